#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "workload.hpp"

namespace rondo {
class Communicator;
namespace device {
class Runtime;
}
}  // namespace rondo

namespace rondo::bench {

/// One implementation of the collectives, on one rank.
class Contender {
 public:
  explicit Contender(std::string name) : name_(std::move(name)) {}
  virtual ~Contender() = default;

  /// As on the command line: "mpi", "rondo:ring".
  const std::string& name() const { return name_; }
  virtual bool supports(const Workload& work) const = 0;
  /// Memory for the buffers of all its calls, 64-byte aligned; it lives as long as this.
  /// Collective.
  virtual std::byte* allocate(std::size_t bytes);
  /// Collective. In place if the buffers are the same memory.
  virtual void run(const Workload& work, std::byte* input, std::byte* output) = 0;
  /// At the end of a sample, within the timed region: returns when all that run() began is done.
  virtual void complete() {}
  /// After a sample, outside the timed region: returns when the results may be checked. Collective.
  virtual void settle() {}
  /// How the last run was done, if that is known.
  virtual std::string algorithm() const { return "-"; }

 private:
  std::string name_;
  std::vector<std::unique_ptr<std::byte, void (*)(void*)>> memory_;
};

/// MPI's own collectives on MPI_COMM_WORLD, as an MPI program without Rondo would call them.
std::unique_ptr<Contender> make_mpi();
struct RondoWay {
  std::string algorithm{};        // empty: what Rondo chooses
  std::size_t segment_bytes = 0;  // 0: the same
  bool shared = false;            // buffers that the node's ranks share
  bool in_stream = false;         // ordered with the default stream of the buffers' device
};
std::unique_ptr<Contender> make_rondo(std::string name, Communicator& world, RondoWay way);
/// The same for buffers on a device: MPI's on the host, with copies before and after, as a program
/// does whose MPI knows of no devices; and Rondo's, ordered with the device's default stream.
std::unique_ptr<Contender> make_mpi_on_device(device::Runtime& devices, int device);
std::unique_ptr<Contender> make_rondo_on_device(std::string name, Communicator& world,
                                                std::string algorithm, device::Runtime& devices,
                                                int device);
/// What memory allows on one node: every rank combines its slice of all inputs into all outputs,
/// and nobody waits for anybody. All-reduce only.
std::unique_ptr<Contender> make_limit(Communicator& world);
/// Gloo over TCP, on the loopback interface if all ranks are on one node; they find each other
/// through files in `folder`. Null if it isn't built in.
std::unique_ptr<Contender> make_gloo(int rank, int ranks, const std::string& folder, bool one_node);
bool has_gloo();

}  // namespace rondo::bench
