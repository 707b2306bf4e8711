#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "support/conformance_case.hpp"
#include "support/conformance_lists.hpp"
#include "support/sanitized.hpp"
#include "support/thread_communicators.hpp"

// Every collective by every algorithm, against the reference, on threads as ranks.
namespace rondo::testing {
namespace {

using transport::ThreadOptions;
using transport::ThreadWorld;
using transport::Topology;

constexpr int kSanitizerStride = kThreadSanitized ? 40 : kSanitized ? 15 : 1;

/// Two nodes of different sizes, whose ranks don't follow one another.
Topology uneven_nodes(int size) {
  std::vector<int> node_of;
  for (Rank rank = 0; rank < size; ++rank) node_of.push_back(rank * rank % 3);
  return Topology(node_of);
}

/// One of the worlds that the product runs in: every `stride`-th case of it, on average.
struct Setting {
  std::string name;
  Topology topology;
  ThreadOptions options;
  int stride;
  std::string_view algorithm = {};  // instead of the selector's choice
  bool overlapped = false;
};

std::vector<Setting> settings(int size) {
  return {{"one node", Topology::one_node(size), {}, 1},
          {"spread", Topology::spread(size), {}, 6},
          {"spread, synchronous", Topology::spread(size), {.synchronous_sends = true}, 6},
          {"uneven nodes", uneven_nodes(size), {}, 6},
          {"uneven nodes, delays", uneven_nodes(size), {.delay_seed = 42}, 12},
          {"uneven nodes, hierarchical", uneven_nodes(size), {}, 1, "hierarchical"},
          {"uneven nodes, hierarchical, delays",
           uneven_nodes(size),
           {.synchronous_sends = true, .delay_seed = 7},
           4,
           "hierarchical"}};
}

std::vector<Case> some_cases(Collective collective, int size, int stride) {
  return thin_out(full_product(collective, size), stride * kSanitizerStride);
}

/// Within one node.
std::vector<const char*> expected_ways(Collective collective) {
  switch (collective) {
    case Collective::allreduce:
    case Collective::reduce:
    case Collective::broadcast:
    case Collective::reduce_scatter:
    case Collective::allgather:
      return {"node, small", "node, copying", "node, direct"};
    default:
      return {};
  }
}

/// Runs the cases and reports the ranks' faults; returns each case's digest on each rank.
std::vector<std::vector<std::uint64_t>> digests_of(const Setting& setting,
                                                   const std::vector<Case>& cases) {
  SCOPED_TRACE(setting.name);
  const References references(setting.topology, cases);
  std::vector<Findings> findings(setting.topology.size());
  ThreadWorld world(setting.topology, setting.options);
  run_communicators(world,
                    [&](Communicator& communicator) {
                      const auto run = setting.overlapped ? run_overlapped_cases : run_cases;
                      findings[communicator.rank()] = run(communicator, cases, references, nullptr);
                    },
                    {.algorithm = setting.algorithm});
  std::vector<std::vector<std::uint64_t>> digests;
  std::set<std::string> algorithms;
  for (Findings& found : findings) {
    algorithms.merge(found.algorithms);
    for (const std::string& fault : found.faults) ADD_FAILURE() << fault;
    digests.push_back(found.digests);
  }
  const bool is_complete = setting.stride * kSanitizerStride == 1;
  const bool is_one_node = setting.topology.nodes() == 1 && setting.topology.size() > 1;
  if (is_complete && is_one_node) {
    for (const char* way : expected_ways(cases.front().collective))
      EXPECT_TRUE(algorithms.contains(way)) << way << " was never taken";
  }
  return digests;
}

class ConformanceProduct : public ::testing::TestWithParam<std::tuple<Collective, int>> {
 protected:
  Collective collective() const { return std::get<0>(GetParam()); }
  int size() const { return std::get<1>(GetParam()); }
};

TEST_P(ConformanceProduct, GivesTheReferenceAndTheSameBitsOnAllRanks) {
  for (const Setting& setting : settings(size())) {
    if (!setting.algorithm.empty() && collective() != Collective::allreduce) continue;
    std::vector<Case> cases = some_cases(collective(), size(), setting.stride);
    if (!setting.algorithm.empty())
      std::erase_if(cases, [](const Case& c) { return !c.algorithm.empty(); });
    const auto digests = digests_of(setting, cases);
    if (!is_alike_on_all_ranks(collective())) continue;
    for (std::size_t i = 0; i < cases.size(); ++i)
      for (Rank rank = 1; rank < size(); ++rank)
        ASSERT_EQ(digests[0][i], digests[rank][i])
            << "rank " << rank << " ends with other bits than rank 0: " << cases[i].describe();
  }
}

TEST_P(ConformanceProduct, GivesTheSameBitsWhateverTheTiming) {
  constexpr int kStride = 40;
  const std::vector<Case> cases = some_cases(collective(), size(), kStride);
  for (const Topology& topology : {Topology::one_node(size()), uneven_nodes(size())}) {
    const auto digests = digests_of({"as it comes", topology, {}, kStride}, cases);
    for (const std::uint64_t seed : {1, 2}) {
      const Setting delayed{"delayed", topology, {.delay_seed = seed}, kStride};
      EXPECT_EQ(digests, digests_of(delayed, cases));
    }
  }
}

TEST_P(ConformanceProduct, GivesTheSameBitsWhenOperationsOverlap) {
  constexpr int kStride = 8;
  const std::vector<Case> cases = some_cases(collective(), size(), kStride);
  for (const Topology& topology : {Topology::one_node(size()), uneven_nodes(size())}) {
    const auto digests = digests_of({"one by one", topology, {}, kStride}, cases);
    for (const ThreadOptions& options :
         {ThreadOptions{}, ThreadOptions{.synchronous_sends = true, .delay_seed = 3}}) {
      const Setting overlapped{"overlapped", topology, options, kStride, {}, true};
      EXPECT_EQ(digests, digests_of(overlapped, cases));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(OnThreads, ConformanceProduct,
                         ::testing::Combine(::testing::ValuesIn(conforming_collectives().begin(),
                                                                conforming_collectives().end()),
                                            ::testing::Values(1, 2, 3, 4, 5, 7, 8)),
                         [](const auto& test) {
                           return std::string(name_of(std::get<0>(test.param))) + "_" +
                                  std::to_string(std::get<1>(test.param)) + "_ranks";
                         });

}  // namespace
}  // namespace rondo::testing
