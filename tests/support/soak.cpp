#include "support/soak.hpp"

#include <chrono>
#include <cstdlib>
#include <vector>

#include "engine/session.hpp"
#include "support/conformance_case.hpp"
#include "support/conformance_lists.hpp"
#include "support/expect.hpp"
#include "support/pattern.hpp"

namespace rondo::testing {

namespace {

constexpr int kCasesInARound = 20;
constexpr std::size_t kGroups = 3;

/// Random numbers that are alike on all ranks.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(mix(seed)) {}
  std::uint64_t next() { return state_ = mix(state_); }
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }

 private:
  std::uint64_t state_;
};

bool all_want_to_go_on(Communicator& world, bool rank_0_does) {
  std::uint8_t answer = rank_0_does ? 1 : 0;
  world.broadcast(std::span(&answer, 1), 0);
  return answer != 0;
}

void expect_alike_on_all_ranks(Communicator& group, const std::vector<Case>& cases,
                               const std::vector<std::uint64_t>& digests) {
  std::vector<std::uint64_t> least = digests;
  std::vector<std::uint64_t> most = digests;
  group.allreduce(std::span(least), ReduceOp::min);
  group.allreduce(std::span(most), ReduceOp::max);
  for (std::size_t i = 0; i < cases.size(); ++i)
    expect(!is_alike_on_all_ranks(cases[i].collective) || least[i] == most[i],
           "ranks end with different bits: {}", cases[i].describe());
}

void run_round(Communicator& group, Random random) {
  std::vector<Case> cases;
  for (int i = 0; i < kCasesInARound; ++i)
    cases.push_back(random_case(random.next(), group.size()));
  const References references(group.session().transport().topology(), cases);
  const Findings findings = run_cases(group, cases, references);
  expect(findings.faults.empty(), "{}", findings.faults.empty() ? "" : findings.faults.front());
  expect_alike_on_all_ranks(group, cases, findings.digests);
}

}  // namespace

double soak_seconds() {
  const char* text = std::getenv("TEST_SOAK_SECONDS");
  return text == nullptr ? 2.0 : std::strtod(text, nullptr);
}

std::uint64_t soak_seed() {
  const char* text = std::getenv("TEST_SOAK_SEED");
  return text == nullptr ? 1 : std::strtoull(text, nullptr, 10);
}

void soak(Communicator& world, std::uint64_t seed, double seconds) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                   std::chrono::duration<double>(seconds));
  std::vector<Communicator> groups;
  for (std::uint64_t round = 0; all_want_to_go_on(world, Clock::now() < end); ++round) {
    Random random(seed << 32 | round);
    try {
      if (random.below(3) == 0) {
        if (groups.size() == kGroups) groups.erase(groups.begin() + random.below(kGroups));
        const std::uint64_t colors = 1 + random.below(3);
        const int color = static_cast<int>(mix(round ^ world.rank()) % colors);
        groups.push_back(world.split(color, static_cast<int>(random.below(2)) * -world.rank()));
      }
      const std::size_t choice = random.below(kGroups + 1);
      run_round(choice < groups.size() ? groups[choice] : world, random);
    } catch (const std::exception& error) {
      throw std::runtime_error(fmt::format("TEST_SOAK_SEED={}, round {}, rank {}: {}", seed, round,
                                           world.rank(), error.what()));
    }
  }
}

}  // namespace rondo::testing
