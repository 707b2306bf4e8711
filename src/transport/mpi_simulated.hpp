#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "transport/mpi_communicator.hpp"
#include "transport/transport.hpp"

namespace rondo::transport {

/// Messages among the ranks that SimGrid's SMPI simulates, all in one process and one thread.
///
/// Simulated time passes only inside MPI calls, so waiting must be one: pause() blocks until any
/// message is complete, at the very moment when it is. Looking costs no time, as if a rank noticed
/// everything at once. Receives are given to MPI as soon as they are known (SMPI has no matched
/// probe). Nothing fails in a simulation: there are no notices. Each rank counts as a node.
class SimulatedTransport final : public Transport {
 public:
  /// Collective over `comm`.
  explicit SimulatedTransport(MPI_Comm comm);

  Rank rank() const override { return rank_; }
  int size() const override { return topology_.size(); }
  const Topology& topology() const override { return topology_; }
  std::string name() const override { return "SMPI"; }

  Ticket send(Rank peer, Tag tag, const void* data, std::size_t bytes) override;
  Ticket receive(Rank peer, Tag tag, void* data, std::size_t bytes, Sizes sizes) override;
  bool test(Ticket ticket) override;
  void cancel(Ticket ticket) override;
  void notify(Rank, const Notice&) noexcept override {}
  std::optional<Notice> poll_notice() override { return std::nullopt; }
  void pause(core::Backoff& backoff) override;
  std::unique_ptr<Transport> split(int color, int key) override;
  [[noreturn]] void abort(int status) override;

 private:
  explicit SimulatedTransport(MpiCommunicator comm);
  Ticket add(MPI_Request request);

  MpiCommunicator comm_;
  Rank rank_;
  Topology topology_;
  // Together, so that MPI can wait for any; null where complete, or where no ticket is out.
  std::vector<MPI_Request> requests_;
  std::vector<Ticket> free_;
};

}  // namespace rondo::transport
