#include <gtest/gtest.h>
#include <rondo/rondo.hpp>

#include "device/in_use.hpp"
#include "mpi_protocol.hpp"
#include "support/host_device.hpp"

// allreduce_bench's measurements on buffers of a device, which is here a part of the host that
// faults where the host touches it.
namespace rondo::bench {
namespace {

class DeviceProtocol : public ::testing::Test {
 protected:
  static testing::HostDevice& devices() {
    static testing::HostDevice& devices = *new testing::HostDevice;  // outlives all communicators
    return devices;
  }

  DeviceProtocol() { device::use(&devices()); }
  ~DeviceProtocol() override { device::use(nullptr); }

  static Workload work_of(Collective collective, bool in_place) {
    Workload work{.collective = collective, .type = DataType::float32, .in_place = in_place};
    MPI_Comm_size(MPI_COMM_WORLD, &work.ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &work.rank);
    work.count = count_for(collective, work.type, 100'000, work.ranks);
    return work;
  }
};

TEST_F(DeviceProtocol, FindsTheResultsOfAllContendersRight) {
  Communicator world(MPI_COMM_WORLD);
  const auto mpi = make_mpi_on_device(devices(), 0);
  const auto rondo = make_rondo_on_device("rondo", world, "", devices(), 0);
  Protocol protocol({rondo.get(), mpi.get()}, 100'000, devices(), 0);
  for (const auto collective : {Collective::allreduce, Collective::reduce, Collective::broadcast,
                                Collective::reduce_scatter, Collective::allgather})
    for (const bool in_place : {false, true}) {
      const auto rows = protocol.measure(work_of(collective, in_place), {.iterations = 2});
      EXPECT_GE(rows.size(), 1U);
      for (const Row& row : rows) {
        EXPECT_EQ(row.wrong, 0U) << row.impl << ", " << name_of(collective) << in_place;
        EXPECT_GT(row.min_us, 0) << row.impl;
      }
    }
}

/// Does nothing, and so leaves what is no result.
class Idle final : public Contender {
 public:
  Idle() : Contender("idle"), buffers_(make_mpi_on_device(*device::in_use(), 0)) {}
  bool supports(const Workload& /*work*/) const override { return true; }
  std::byte* allocate(std::size_t bytes) override { return buffers_->allocate(bytes); }
  void run(const Workload& /*work*/, std::byte* /*input*/, std::byte* /*output*/) override {}

 private:
  std::unique_ptr<Contender> buffers_;
};

TEST_F(DeviceProtocol, CountsWhatIsWrongOnTheDevice) {
  Idle idle;
  Protocol protocol({&idle}, 100'000, devices(), 0);
  const Workload work = work_of(Collective::allreduce, false);
  const auto rows = protocol.measure(work, {.iterations = 1, .warm_up = 0});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].wrong, work.count * static_cast<std::size_t>(work.ranks));
}

}  // namespace
}  // namespace rondo::bench
