#include <gtest/gtest.h>

#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "device/in_use.hpp"
#include "support/choose_devices.hpp"
#include "support/conformance_case.hpp"
#include "support/conformance_lists.hpp"
#include "support/host_device.hpp"
#include "support/sanitized.hpp"
#include "support/thread_communicators.hpp"

// Every collective on the memory of a device, against the reference, on threads as ranks.
namespace rondo::testing {
namespace {

using transport::ThreadWorld;
using transport::Topology;

constexpr int kStride = kThreadSanitized ? 20 : kSanitized ? 6 : 2;
/// So small that most calls have several parts.
constexpr std::size_t kStagingBytes = 1024;

class ConformanceOnDevice : public ::testing::TestWithParam<std::tuple<std::string, int>> {
 protected:
  void SetUp() override {
    choose_devices(std::get<0>(GetParam()), host_, devices_);
    device::use(devices_);
  }
  void TearDown() override { device::use(nullptr); }

  int size() const { return std::get<1>(GetParam()); }

  using Run = Findings (*)(Communicator&, std::span<const Case>, const References&,
                           device::Runtime*);
  void check(Run run, const Topology& topology, const std::vector<Case>& cases,
             std::size_t staging_bytes) {
    core::Settings settings;
    settings.staging_bytes = staging_bytes;
    const References references(topology, cases);
    std::vector<Findings> findings(topology.size());
    ThreadWorld world(topology, {});
    run_communicators(
        world,
        [&](Communicator& communicator) {
          findings[communicator.rank()] = run(communicator, cases, references, devices_);
        },
        {}, settings);
    for (const Findings& found : findings)
      for (const std::string& fault : found.faults) ADD_FAILURE() << fault;
  }

  HostDevice host_;
  device::Runtime* devices_ = nullptr;
};

std::vector<Case> cases_for(int size) {
  std::vector<Case> cases = thin_out(covering_cases(size), kStride);
  std::erase_if(cases, [](const Case& c) {
    return c.collective == Collective::barrier ||
           (c.collective == Collective::all_to_all && c.uneven);
  });
  return cases;
}

TEST_P(ConformanceOnDevice, GivesTheReference) {
  const std::vector<Case> cases = cases_for(size());
  check(run_cases, Topology::one_node(size()), cases, kStagingBytes);
  check(run_cases, Topology::spread(size()), thin_out(cases, 3), kStagingBytes);
  check(run_cases, Topology::spread(size()), thin_out(cases, 3), core::Settings().staging_bytes);
}

TEST_P(ConformanceOnDevice, GivesTheReferenceWhenOperationsOverlap) {
  const std::vector<Case> cases = cases_for(size());
  check(run_overlapped_cases, Topology::one_node(size()), thin_out(cases, 2), kStagingBytes);
  check(run_overlapped_cases, Topology::spread(size()), thin_out(cases, 4), kStagingBytes);
}

TEST_P(ConformanceOnDevice, GivesTheReferenceInStreams) {
  const std::vector<Case> cases = cases_for(size());
  check(run_cases_in_streams, Topology::one_node(size()), thin_out(cases, 4), kStagingBytes);
  check(run_cases_in_streams, Topology::spread(size()), thin_out(cases, 8), kStagingBytes);
}

std::string name_of_parameters(const ::testing::TestParamInfo<std::tuple<std::string, int>>& info) {
  return std::to_string(std::get<1>(info.param)) + "_ranks";
}
const auto kSizes = ::testing::Values(1, 2, 3, 5);
INSTANTIATE_TEST_SUITE_P(Host, ConformanceOnDevice,
                         ::testing::Combine(::testing::Values("Host"), kSizes), name_of_parameters);
INSTANTIATE_TEST_SUITE_P(Cuda, ConformanceOnDevice,
                         ::testing::Combine(::testing::Values("Cuda"), kSizes), name_of_parameters);

}  // namespace
}  // namespace rondo::testing
