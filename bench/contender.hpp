#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "workload.hpp"

namespace rondo {
class Communicator;
}

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
/// Rondo; buffers that the node's ranks share, if `shared`; always by `algorithm`, unless empty,
/// and in segments of so many bytes, unless 0.
std::unique_ptr<Contender> make_rondo(std::string name, Communicator& world, bool shared,
                                      std::string algorithm, std::size_t segment_bytes = 0);
/// What memory allows on one node: every rank combines its slice of all inputs into all outputs,
/// and nobody waits for anybody. All-reduce only.
std::unique_ptr<Contender> make_limit(Communicator& world);
/// Gloo over TCP, on the loopback interface if all ranks are on one node; they find each other
/// through files in `folder`. Null if it isn't built in.
std::unique_ptr<Contender> make_gloo(int rank, int ranks, const std::string& folder, bool one_node);
bool has_gloo();

}  // namespace rondo::bench
