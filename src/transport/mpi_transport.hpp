#pragma once

#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "transport/mpi_communicator.hpp"
#include "transport/mpi_finalize.hpp"
#include "transport/mpi_info.hpp"
#include "transport/mpi_notices.hpp"
#include "transport/mpi_vendor.hpp"
#include "transport/ticket_table.hpp"
#include "transport/transport.hpp"
#include "transport/waiting_receives.hpp"

namespace rondo::transport {

struct MpiOptions {
  /// How long the constructor waits for the other ranks.
  std::chrono::milliseconds deadline{600'000};
  /// Most elements that one MPI call is told: a message of more bytes is described by a derived
  /// datatype. Smaller in tests only.
  std::size_t max_count = std::size_t{1} << 30;
};

/// Messages by MPI point-to-point calls on a duplicate of the user's communicator; notices on a
/// second one. Works at any thread level; below MPI_THREAD_MULTIPLE only on the thread that MPI
/// allows.
///
/// Unless sizes are known, MPI is given a receive only once a matched probe has seen its message
/// and that it has the right size: for a longer one MPICH would end the job, and Open MPI write
/// behind the memory.
///
/// At the start of MPI_Finalize a transport that still lives sends kRankLeft to all others and
/// cancels its receives; from then on its calls throw Error(usage). Its destructor is not
/// collective, never blocks for long, never throws, and may run after MPI_Finalize.
class MpiTransport final : public Transport, private FinalizeListener {
 public:
  /// Collective over `comm`, of which nothing is changed. Throws Error(usage) when MPI is not
  /// running, for MPI_COMM_NULL and for an inter-communicator; Error(timeout) when a rank doesn't
  /// arrive within the deadline.
  explicit MpiTransport(MPI_Comm comm, const MpiOptions& options = {});
  ~MpiTransport() override;
  MpiTransport(const MpiTransport&) = delete;
  MpiTransport& operator=(const MpiTransport&) = delete;

  Rank rank() const override { return rank_; }
  int size() const override { return size_; }
  const Topology& topology() const override { return *topology_; }
  std::string name() const override { return mpi_library_name(); }

  Ticket send(Rank peer, Tag tag, const void* data, std::size_t bytes) override;
  Ticket receive(Rank peer, Tag tag, void* data, std::size_t bytes,
                 Sizes sizes = Sizes::checked) override;
  bool test(Ticket ticket) override;
  void cancel(Ticket ticket) override;
  void notify(Rank peer, const Notice& notice) noexcept override;
  std::optional<Notice> poll_notice() override;
  std::unique_ptr<Transport> split(int color, int key) override;
  [[noreturn]] void abort(int status) override;
  Vendor* vendor() override;
  bool has_vendor() const override { return true; }
  bool callable_from_any_thread() const override { return mpi_allows_threads(); }

 private:
  struct Pending {
    MPI_Request request = MPI_REQUEST_NULL;
    bool is_send = false;
    Rank peer = -1;
    Tag tag = 0;
    std::size_t bytes = 0;
    void* data = nullptr;   // of a receive
    bool waiting = false;   // a receive whose message has not been seen
    bool posted = false;    // a receive that MPI matches with its message
    std::size_t queue = 0;  // of waiting_, in which it waits or waited
    std::optional<std::size_t> wrong_size = std::nullopt;  // of the message of a receive
  };

  MpiTransport(MpiCommunicator data, const MpiOptions& options);
  void before_finalize() noexcept override;
  void post(Pending& receive);
  void begin_arrived(std::size_t queue);
  void begin(Pending& receive, MPI_Message message, std::size_t bytes);
  void drain(MPI_Message message, std::size_t bytes) const;
  void check_usable() const;
  [[noreturn]] void mismatch(const Pending& receive);
  void give_up(Pending& pending) noexcept;

  MpiOptions options_;
  MpiCommunicator data_;
  MpiCommunicator control_;
  Rank rank_ = -1;
  int size_ = 0;
  std::optional<Topology> topology_;
  std::unique_ptr<MpiNotices> notices_;
  std::unique_ptr<MpiVendor> vendor_;  // made when first asked for
  TicketTable<Pending> pending_;
  WaitingReceives waiting_;
  bool left_ = false;  // MPI_Finalize has begun
  bool clean_ = true;  // nothing was cancelled: no message can arrive late
};

}  // namespace rondo::transport
