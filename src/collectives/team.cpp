#include "collectives/team.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdint>
#include <utility>

namespace rondo::collectives {

namespace {

// Finished values don't queue behind partial ones.
constexpr int kPartials = 0;
constexpr int kResults = 1;

template <class T>
auto& get(T& container, int index) {
  return container[static_cast<std::size_t>(index)];
}

int index_in(const std::vector<Rank>& members, Rank rank) {
  const auto found = std::find(members.begin(), members.end(), rank);
  assert(found != members.end());
  return static_cast<int>(found - members.begin());
}

}  // namespace

Cores::Cores(int members)
    : steps_(std::bit_width(static_cast<unsigned>(members)) - 1), extras_(members - count()) {}

/// Bit k of a core's number chose the upper half in step k. The range is cut into as many parts as
/// there are cores, whose sizes differ by at most one block.
Cores::Range Cores::part(const Range& whole, int core, int steps) const {
  int part = 0;
  for (int step = 0; step < steps; ++step)
    if ((core >> step & 1) != 0) part += count() >> (step + 1);
  const auto begin_of = [&](int which) {
    return whole.first + static_cast<int>(std::int64_t{whole.count} * which / count());
  };
  const int begin = begin_of(part);
  return {begin, begin_of(part + (count() >> steps)) - begin};
}

int Cores::core_left_with(const Range& whole, int block) const {
  const std::int64_t blocks_before_end = block - whole.first + 1;
  const auto part = static_cast<int>((blocks_before_end * count() - 1) / whole.count);
  int core = 0;
  for (int step = 0; step < steps_; ++step)
    if ((part >> (steps_ - 1 - step) & 1) != 0) core |= 1 << step;
  return core;
}

Team::Team(Plan& plan, std::vector<Rank> members, const Cores::Range& blocks)
    : plan_(plan),
      members_(std::move(members)),
      blocks_(blocks),
      cores_(static_cast<int>(members_.size())),
      member_(index_in(members_, plan.rank())),
      core_(cores_.core_of(member_)),
      is_extra_(cores_.is_extra(member_)) {}

Rank Team::core_rank(int core) const { return get(members_, cores_.member_of(core)); }

void Team::fold_in() {
  if (is_extra_)
    plan_.send({core_rank(core_), blocks_.first, blocks_.count}, Action::reduce, kPartials);
  else if (cores_.has_extra(core_))
    plan_.receive({get(members_, member_ + 1), blocks_.first, blocks_.count}, Action::reduce,
                  kPartials);
}

void Team::double_up() {
  if (is_extra_) return;
  for (int distance = 1; distance < cores_.count(); distance *= 2) {
    const Rank partner = core_rank(core_ ^ distance);
    plan_.exchange({partner, blocks_.first, blocks_.count}, {partner, blocks_.first, blocks_.count},
                   Action::reduce, kPartials);
  }
}

void Team::halve() {
  if (is_extra_) return;
  for (int step = 0; step < cores_.steps(); ++step) {
    const int partner = core_ ^ (1 << step);
    const Cores::Range theirs = cores_.part(blocks_, partner, step + 1);
    const Cores::Range mine = cores_.part(blocks_, core_, step + 1);
    plan_.exchange({core_rank(partner), theirs.first, theirs.count},
                   {core_rank(partner), mine.first, mine.count}, Action::reduce, kPartials);
  }
}

void Team::collect() {
  if (is_extra_) return;
  for (int step = cores_.steps() - 1; step >= 0; --step) {
    const int partner = core_ ^ (1 << step);
    const Cores::Range mine = cores_.part(blocks_, core_, step + 1);
    const Cores::Range theirs = cores_.part(blocks_, partner, step + 1);
    plan_.exchange({core_rank(partner), mine.first, mine.count},
                   {core_rank(partner), theirs.first, theirs.count}, Action::copy, kResults);
  }
}

void Team::fold_out() {
  if (is_extra_)
    plan_.receive({core_rank(core_), blocks_.first, blocks_.count}, Action::copy, kResults);
  else if (cores_.has_extra(core_))
    plan_.send({get(members_, member_ + 1), blocks_.first, blocks_.count}, Action::copy, kResults);
}

}  // namespace rondo::collectives
