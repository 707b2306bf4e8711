#include <array>
#include <vector>

#include "collectives/algorithms.hpp"

namespace rondo::collectives {

namespace {

// Finished values don't queue behind partial ones.
constexpr int kPartials = 0;
constexpr int kResults = 1;

constexpr std::array kOddPrimes{3, 5, 7, 11, 13, 17, 19, 23, 29, 31};

/// How `cores` is a product of small numbers: of fours and at most one two, and of odd primes.
/// Empty for 1; what can't be taken apart is left in `rest`.
std::vector<int> factors_of(int cores, int& rest) {
  std::vector<int> factors;
  rest = cores;
  const auto take = [&](int factor) {
    for (; rest % factor == 0; rest /= factor) factors.push_back(factor);
  };
  take(4);
  if (rest % 2 == 0) {
    factors.insert(factors.begin(), 2);
    rest /= 2;
  }
  for (const int prime : kOddPrimes) take(prime);
  return factors;
}

/// What one core does in a grid of cores that has a dimension for each factor.
class Grid {
 public:
  Grid(Plan& plan, int core, int extras, const std::vector<int>& factors)
      : plan_(plan), core_(core), extras_(extras) {
    int stride = 1;
    int count = plan.blocks();
    int first = 0;
    for (const int factor : factors) {
      const int place = core / stride % factor;
      count /= factor;
      stages_.push_back({factor, stride, place, first, count});
      first += place * count;
      stride *= factor;
    }
  }

  /// Along one dimension after the other, each core gives each other its part of what they share.
  void reduce() {
    for (const Stage& stage : stages_) exchange(stage, Action::reduce, kPartials);
  }

  /// The same way back.
  void collect() {
    for (auto stage = stages_.rbegin(); stage != stages_.rend(); ++stage)
      exchange(*stage, Action::copy, kResults);
  }

  /// Of the first 2·extras ranks every second is extra, as in Cores.
  static Rank rank_of(int core, int extras) { return core < extras ? 2 * core : core + extras; }

 private:
  struct Stage {
    int factor;
    int stride;  // between the cores of a group
    int place;   // of this core in its group
    int first;   // of the blocks that the group shares
    int count;   // blocks for each

    int part(int whose) const { return first + whose * count; }
  };

  void exchange(const Stage& stage, Action action, int channel) {
    for (int away = 1; away < stage.factor; ++away) {
      const int to = (stage.place + away) % stage.factor;
      const int from = (stage.place + stage.factor - away) % stage.factor;
      const bool reduces = action == Action::reduce;
      plan_.exchange({peer(stage, to), stage.part(reduces ? to : stage.place), stage.count},
                     {peer(stage, from), stage.part(reduces ? stage.place : from), stage.count},
                     action, channel);
    }
  }

  Rank peer(const Stage& stage, int place) const {
    return rank_of(core_ + (place - stage.place) * stage.stride, extras_);
  }

  Plan& plan_;
  int core_;
  int extras_;
  std::vector<Stage> stages_;
};

}  // namespace

int quartering_quadrupling_cores(const Group& group) {
  int cores = group.size;
  for (int rest = 0;; --cores) {
    factors_of(cores, rest);
    if (rest == 1) return cores;
  }
}

/// Reduce-scatter in groups of four, in which each rank gives each other its quarter, and then in
/// groups of four such groups; then all-gather the same way back (after Ruefenacht, Bull & Booth,
/// 2017). Where n is no power of four, one group is of two, and some of an odd prime up to 31.
///
///   16 ranks:  in step 1 with the ranks 4⌊r/4⌋ + (0…3): a quarter each;
///              in step 2 with the ranks r mod 4 + (0, 4, 8, 12): a sixteenth each;
///              and back the same way, finished.
///
/// m ≤ n cores take part, where m is the largest number with such factors; extra ranks pair up with
/// stand-ins before and after, as in Team. Steps 2f for m of f factors, or 2f + 2, each of as many
/// messages as its factor less one; each rank sends 2(1 - 1/m)·M, stand-ins M more, the extra ones
/// M. For medium and large messages on many ranks.
Plan quartering_quadrupling_allreduce(const Group& group) {
  const int cores = quartering_quadrupling_cores(group);
  const int extras = group.size - cores;
  Plan plan(group.rank, group.size, cores);
  const bool paired = group.rank < 2 * extras;
  if (paired && group.rank % 2 == 1) {
    plan.send({group.rank - 1, 0, cores}, Action::reduce, kPartials);
    plan.receive({group.rank - 1, 0, cores}, Action::copy, kResults);
    return plan;
  }
  int rest = 0;
  const int core = paired ? group.rank / 2 : group.rank - extras;
  Grid grid(plan, core, extras, factors_of(cores, rest));
  if (paired) plan.receive({group.rank + 1, 0, cores}, Action::reduce, kPartials);
  grid.reduce();
  grid.collect();
  if (paired) plan.send({group.rank + 1, 0, cores}, Action::copy, kResults);
  plan.complete(0, cores);
  return plan;
}

}  // namespace rondo::collectives
