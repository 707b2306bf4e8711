#include "transport/mpi_notices.hpp"

#include <chrono>
#include <exception>
#include <iterator>
#include <thread>
#include <type_traits>
#include <utility>

#include "core/log.hpp"
#include "transport/keep_for_ever.hpp"
#include "transport/mpi_check.hpp"

namespace rondo::transport {

namespace {
constexpr Tag kNoticeTag = 0;
constexpr std::chrono::seconds kCancelPatience{2};
}  // namespace

MpiNotices::MpiNotices(MPI_Comm control, std::uint64_t group) : control_(control), group_(group) {
  static_assert(std::is_trivially_copyable_v<Wire>);
  for (Slot& slot : *receives_) post(slot);
}

void MpiNotices::post(Slot& slot) {
  check(MPI_Irecv(&slot.wire, sizeof slot.wire, MPI_BYTE, MPI_ANY_SOURCE, kNoticeTag, control_,
                  &slot.request),
        "MPI_Irecv");
}

void MpiNotices::send(Rank peer, const Notice& notice) {
  used_ = true;
  reap();
  if (sends_.size() >= kMaxOutgoing) return;
  Slot& slot = sends_.emplace_back();
  slot.wire = {group_, notice};
  check(
      MPI_Isend(&slot.wire, sizeof slot.wire, MPI_BYTE, peer, kNoticeTag, control_, &slot.request),
      "MPI_Isend");
}

void MpiNotices::reap() {
  for (auto slot = sends_.begin(); slot != sends_.end();) {
    int done = 0;
    check(MPI_Test(&slot->request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    slot = done != 0 ? sends_.erase(slot) : std::next(slot);
  }
}

std::optional<Notice> MpiNotices::poll() {
  for (;;) {
    Slot& slot = (*receives_)[next_];
    int done = 0;
    MPI_Status status;
    check(MPI_Test(&slot.request, &done, &status), "MPI_Test");
    if (done == 0) return std::nullopt;
    Wire wire = slot.wire;
    post(slot);
    next_ = (next_ + 1) % kReceives;
    if (wire.group != group_) continue;
    used_ = true;
    wire.notice.sender = status.MPI_SOURCE;
    return wire.notice;
  }
}

void MpiNotices::flush(Deadline deadline) noexcept {
  try {
    for (reap(); !sends_.empty() && std::chrono::steady_clock::now() < deadline; reap())
      std::this_thread::yield();
  } catch (const std::exception& error) {
    core::log(core::LogLevel::warning, error.what());
  }
}

void MpiNotices::close() noexcept {
  Receives* receives = receives_.release();
  if (receives == nullptr) return;
  try {
    if (mpi_is_running()) {
      reap();
      if (!sends_.empty()) keep_for_ever(std::move(sends_));
      const Deadline deadline = std::chrono::steady_clock::now() + kCancelPatience;
      for (Slot& slot : *receives)
        if (!cancel_by(slot.request, deadline)) return;  // MPI may still write to it
    }
    delete receives;
  } catch (const std::exception& error) {
    core::log(core::LogLevel::warning, error.what());
  }
}

}  // namespace rondo::transport
