#include "transport/mpi_transport.hpp"

#include <exception>
#include <random>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <rondo/error.hpp>

#include "core/log.hpp"
#include "core/narrow.hpp"
#include "transport/keep_for_ever.hpp"
#include "transport/mpi_byte_run.hpp"
#include "transport/mpi_check.hpp"
#include "transport/node_identity.hpp"

namespace rondo::transport {

namespace {

/// How long a message that has begun to arrive may delay a cancel, and notices MPI_Finalize.
constexpr std::chrono::seconds kPatience{2};

Deadline after(std::chrono::milliseconds time) { return std::chrono::steady_clock::now() + time; }

/// `comm` if a transport can be made of it.
MPI_Comm usable(MPI_Comm comm) {
  if (!mpi_is_running())
    throw Error(ErrorCode::usage,
                "a communicator needs a running MPI: construct rondo::Environment first (or call "
                "MPI_Init), and use the communicator before MPI_Finalize");
  if (comm == MPI_COMM_NULL)
    throw Error(ErrorCode::usage,
                "a communicator can't be made of MPI_COMM_NULL: only call the constructor on ranks "
                "that belong to the MPI communicator");
  int is_inter = 0;
  check(MPI_Comm_test_inter(comm, &is_inter), "MPI_Comm_test_inter");
  if (is_inter != 0)
    throw Error(ErrorCode::usage,
                "a communicator can't be made of an inter-communicator: merge its two groups with "
                "MPI_Intercomm_merge first");
  return comm;
}

std::uint64_t random_number() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

/// What each rank tells all others when they meet.
struct Introduction {
  std::uint64_t node = 0;
  std::uint64_t nonce = 0;
};

std::vector<Introduction> introduce(MPI_Comm comm, int size, Deadline deadline) {
  struct Exchange {
    Introduction mine;
    std::vector<Introduction> all;
  };
  // On the heap, since MPI may still use it after we have given up.
  auto exchange = std::make_unique<Exchange>();
  exchange->mine = {node_identity(), random_number()};
  exchange->all.resize(size);
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Iallgather(&exchange->mine, sizeof(Introduction), MPI_BYTE, exchange->all.data(),
                       sizeof(Introduction), MPI_BYTE, comm, &request),
        "MPI_Iallgather");
  if (!complete_by(request, deadline)) {
    keep_for_ever(std::move(exchange));
    throw Error(ErrorCode::timeout,
                fmt::format("making a communicator of {} ranks did not finish in time: a rank "
                            "stopped in the middle of it",
                            size));
  }
  return std::move(exchange->all);
}

std::size_t size_of(const MPI_Status& status) {
  MPI_Count bytes = 0;
  check(MPI_Get_elements_x(&status, MPI_BYTE, &bytes), "MPI_Get_elements_x");
  return core::narrow<std::size_t>(bytes);
}

Topology topology_of(const std::vector<Introduction>& introductions) {
  std::unordered_map<std::uint64_t, int> numbers;
  std::vector<int> node_of;
  for (const Introduction& introduction : introductions) {
    const int next = static_cast<int>(numbers.size());
    node_of.push_back(numbers.try_emplace(introduction.node, next).first->second);
  }
  return Topology(std::move(node_of));
}

}  // namespace

MpiTransport::MpiTransport(MPI_Comm comm, const MpiOptions& options)
    : MpiTransport(MpiCommunicator::duplicate(usable(comm), after(options.deadline)), options) {}

MpiTransport::MpiTransport(MpiCommunicator data, const MpiOptions& options)
    : options_(options),
      data_(std::move(data)),
      control_(MpiCommunicator::duplicate(data_.get(), after(options.deadline))),
      rank_(data_.rank()),
      size_(data_.size()) {
  const auto introductions = introduce(control_.get(), size_, after(options.deadline));
  topology_ = topology_of(introductions);
  notices_ = std::make_unique<MpiNotices>(control_.get(), introductions.front().nonce);
  add_finalize_listener(*this);
}

MpiTransport::~MpiTransport() {
  remove_finalize_listener(*this);
  if (!mpi_is_running()) return;
  for (const Ticket ticket : pending_.tickets()) give_up(pending_.at(ticket));
  notices_->close();
  if (vendor_ && !vendor_->idle()) clean_ = false;
  if (clean_ && !notices_->used()) return;
  data_.abandon();
  control_.abandon();
}

void MpiTransport::check_usable() const {
  if (left_)
    throw Error(ErrorCode::usage,
                "MPI_Finalize was called while a communicator was still in use: destroy every "
                "rondo::Communicator, or finish its operations, before");
}

Ticket MpiTransport::send(Rank peer, Tag tag, const void* data, std::size_t bytes) {
  check_usable();
  const MpiByteRun run(bytes, options_.max_count);
  Pending pending{.is_send = true, .peer = peer, .tag = tag, .bytes = bytes};
  check(MPI_Isend(data, run.count(), run.type(), peer, tag, data_.get(), &pending.request),
        "MPI_Isend");
  return pending_.add(pending);
}

Ticket MpiTransport::receive(Rank peer, Tag tag, void* data, std::size_t bytes, Sizes sizes) {
  check_usable();
  Pending pending{.is_send = false, .peer = peer, .tag = tag, .bytes = bytes};
  pending.data = data;
  if (sizes != Sizes::checked) {
    // Those that wait come first, and their sizes are known as well.
    if (const auto queue = waiting_.find(peer, tag))
      while (const auto ticket = waiting_.oldest(*queue)) {
        waiting_.remove(*queue, *ticket);
        post(pending_.at(*ticket));
      }
    post(pending);
    return pending_.add(pending);
  }
  pending.waiting = true;
  const Ticket ticket = pending_.add(pending);
  pending_.at(ticket).queue = waiting_.add(peer, tag, ticket);
  return ticket;
}

bool MpiTransport::test(Ticket ticket) {
  check_usable();
  Pending& pending = pending_.at(ticket);
  // Also when this one is under way already: those behind it must not wait until it is complete.
  if (!pending.is_send && !pending.posted) begin_arrived(pending.queue);
  if (pending.waiting) return false;
  if (pending.wrong_size) mismatch(pending_.remove(ticket));
  int done = 0;
  const int code = MPI_Test(&pending.request, &done, MPI_STATUS_IGNORE);
  if (code == MPI_SUCCESS && done == 0) return false;
  pending_.remove(ticket);
  check(code, "MPI_Test");
  return true;
}

void MpiTransport::post(Pending& receive) {
  const MpiByteRun run(receive.bytes, options_.max_count);
  check(MPI_Irecv(receive.data, run.count(), run.type(), receive.peer, receive.tag, data_.get(),
                  &receive.request),
        "MPI_Irecv");
  receive.waiting = false;
  receive.posted = true;
}

/// Begins the receives of a queue whose messages have arrived, oldest first.
void MpiTransport::begin_arrived(std::size_t queue) {
  while (const auto ticket = waiting_.oldest(queue)) {
    Pending& receive = pending_.at(*ticket);
    int arrived = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    check(MPI_Improbe(receive.peer, receive.tag, data_.get(), &arrived, &message, &status),
          "MPI_Improbe");
    if (arrived == 0) return;
    waiting_.remove(queue, *ticket);
    receive.waiting = false;
    begin(receive, message, size_of(status));
  }
}

void MpiTransport::begin(Pending& receive, MPI_Message message, std::size_t bytes) {
  if (bytes != receive.bytes) {
    receive.wrong_size = bytes;
    drain(message, bytes);
    return;
  }
  const MpiByteRun run(bytes, options_.max_count);
  check(MPI_Imrecv(receive.data, run.count(), run.type(), &message, &receive.request),
        "MPI_Imrecv");
}

/// Lets the sender of a message that nobody wants go on. The message may still be arriving when the
/// process ends.
void MpiTransport::drain(MPI_Message message, std::size_t bytes) const {
  const MpiByteRun run(bytes, options_.max_count);
  auto memory = std::make_unique_for_overwrite<std::byte[]>(bytes);
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Imrecv(memory.get(), run.count(), run.type(), &message, &request), "MPI_Imrecv");
  keep_for_ever(std::move(memory));
  check(MPI_Request_free(&request), "MPI_Request_free");
}

void MpiTransport::mismatch(const Pending& receive) {
  clean_ = false;
  throw Error(
      ErrorCode::mismatch,
      fmt::format("rank {} expected a message of {} bytes from rank {} (tag {}), but it has "
                  "{} bytes: the ranks disagree about the operation",
                  rank_, receive.bytes, receive.peer, receive.tag, *receive.wrong_size));
}

void MpiTransport::cancel(Ticket ticket) {
  Pending pending = pending_.remove(ticket);
  if (pending.waiting) waiting_.remove(pending.queue, ticket);
  if (mpi_is_running()) give_up(pending);
}

void MpiTransport::give_up(Pending& pending) noexcept {
  clean_ = false;
  if (pending.request == MPI_REQUEST_NULL) return;
  try {
    if (pending.is_send)
      check(MPI_Request_free(&pending.request), "MPI_Request_free");
    else if (!(pending.posted ? cancel_by(pending.request, after(kPatience))
                              : complete_by(pending.request, after(kPatience))))
      core::log(core::LogLevel::error,
                fmt::format("a message from rank {} has begun to arrive but does not end: the "
                            "memory of its receive ({} bytes) must stay until the process ends",
                            pending.peer, pending.bytes));
  } catch (const std::exception& error) {
    core::log(core::LogLevel::warning, error.what());
  }
}

void MpiTransport::notify(Rank peer, const Notice& notice) noexcept {
  if (left_ || !mpi_is_running()) return;
  try {
    notices_->send(peer, notice);
  } catch (const std::exception& error) {
    core::log(core::LogLevel::warning, error.what());
  }
}

std::optional<Notice> MpiTransport::poll_notice() {
  check_usable();
  return notices_->poll();
}

std::unique_ptr<Transport> MpiTransport::split(int color, int key) {
  check_usable();
  MPI_Comm group = MPI_COMM_NULL;
  check(MPI_Comm_split(data_.get(), color < 0 ? MPI_UNDEFINED : color, key, &group),
        "MPI_Comm_split");
  if (group == MPI_COMM_NULL) return nullptr;
  return std::unique_ptr<Transport>(new MpiTransport(MpiCommunicator(group), options_));
}

Vendor* MpiTransport::vendor() {
  check_usable();
  if (!vendor_) vendor_ = std::make_unique<MpiVendor>(data_.get());
  return vendor_.get();
}

void MpiTransport::abort(int status) { abort_job(status); }

/// The others must learn that this rank answers nothing any more, and MPI must not touch our memory
/// after its end.
void MpiTransport::before_finalize() noexcept {
  tell_ending();
  const Notice farewell{.kind = kRankLeft};
  for (Rank peer = 0; peer < size_; ++peer)
    if (peer != rank_) notify(peer, farewell);
  left_ = true;
  for (const Ticket ticket : pending_.tickets()) {
    Pending& pending = pending_.at(ticket);
    give_up(pending);
    pending.request = MPI_REQUEST_NULL;
  }
  notices_->flush(after(kPatience));
  notices_->close();
}

}  // namespace rondo::transport
