#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>

#include "transport/mpi_communicator.hpp"
#include "transport/transport.hpp"

namespace rondo::transport {

/// Notices over a control communicator: receives from any source stand ready all the time, and what
/// is sent is kept until MPI has taken it.
class MpiNotices {
 public:
  /// `group` is a number that only the ranks of this communicator share: it keeps out late notices
  /// of an earlier communicator whose number MPI uses again. `control` outlives this.
  MpiNotices(MPI_Comm control, std::uint64_t group);
  ~MpiNotices() { close(); }
  MpiNotices(const MpiNotices&) = delete;
  MpiNotices& operator=(const MpiNotices&) = delete;

  /// Never blocks. Dropped if very many are still under way.
  void send(Rank peer, const Notice& notice);
  std::optional<Notice> poll();
  /// Waits until what was sent is gone, but not beyond `deadline`.
  void flush(Deadline deadline) noexcept;
  /// Takes the receives back. Sends that are not complete finish in the background.
  void close() noexcept;

  /// True once anything was sent or received.
  bool used() const { return used_; }

 private:
  struct Wire {
    std::uint64_t group = 0;
    Notice notice;
  };
  struct Slot {
    Wire wire;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  static constexpr std::size_t kReceives = 8;
  static constexpr std::size_t kMaxOutgoing = 4'096;
  using Receives = std::array<Slot, kReceives>;
  using Sends = std::list<Slot>;

  void post(Slot& slot);
  void reap();

  MPI_Comm control_;
  std::uint64_t group_;
  std::unique_ptr<Receives> receives_ = std::make_unique<Receives>();
  std::size_t next_ = 0;  // they complete in the order posted: this is the oldest
  Sends sends_;
  bool used_ = false;
};

}  // namespace rondo::transport
