#include "transport/thread_transport.hpp"

#include <cstring>
#include <numeric>
#include <optional>
#include <random>
#include <utility>

#include <fmt/format.h>

#include <rondo/error.hpp>

#include "transport/thread_group.hpp"
#include "transport/ticket_table.hpp"

namespace rondo::transport {

namespace {

/// How many more polls something is to be held back.
class Delays {
 public:
  Delays(std::uint64_t seed, Rank rank)
      : on_(seed != 0), random_(static_cast<std::uint32_t>(seed * 1'000 + rank)) {}

  int draw() {
    if (!on_) return 0;
    const auto value = random_();
    if (value % 16 == 0) return 200;  // now and then, long after the others
    return static_cast<int>(value % 8);
  }

 private:
  bool on_;
  std::mt19937 random_;
};

class ThreadTransport final : public Transport {
 public:
  ThreadTransport(std::shared_ptr<ThreadGroup> group, Rank rank)
      : group_(std::move(group)), rank_(rank), delays_(group_->options().delay_seed, rank) {}

  ~ThreadTransport() override;

  Rank rank() const override { return rank_; }
  int size() const override { return group_->size(); }
  const Topology& topology() const override { return group_->topology(); }
  std::string name() const override { return "threads"; }
  bool throws_only() const override { return true; }
  const void* process() const override {
    return group_->job().process_of(group_->world_rank(rank_));
  }
  bool callable_from_any_thread() const override { return true; }
  std::uint64_t delay_seed() const override { return group_->options().delay_seed; }

  Ticket send(Rank peer, Tag tag, const void* data, std::size_t bytes) override;
  Ticket receive(Rank peer, Tag tag, void* data, std::size_t bytes, Sizes sizes) override;
  bool test(Ticket ticket) override;
  void cancel(Ticket ticket) override;
  void notify(Rank peer, const Notice& notice) noexcept override;
  std::optional<Notice> poll_notice() override;
  std::unique_ptr<Transport> split(int color, int key) override;

  [[noreturn]] void abort(int status) override {
    group_->job().abort(status);
    throw Error(ErrorCode::peer_lost,
                fmt::format("rank {} aborted the job of threads with status {}", rank_, status));
  }

 private:
  struct Pending {
    bool is_send = false;
    Rank peer = -1;
    Tag tag = 0;
    void* data = nullptr;  // of a receive
    std::size_t bytes = 0;
    bool shorter = false;                    // a receive whose message may have fewer bytes
    std::shared_ptr<ThreadMessage> message;  // of a receive: the matching one, once there is one
    int polls_to_wait = 0;
  };

  void enter() { group_->job().enter(group_->world_rank(rank_)); }
  bool reaches(Rank peer) const { return !group_->job().is_lost(group_->world_rank(peer)); }
  ThreadMailbox& mailbox() { return group_->mailbox(rank_); }

  void match(ThreadMailbox::Key key);
  bool take(const Pending& receive);
  static bool fits(const Pending& receive) {
    const std::size_t bytes = receive.message->bytes;
    return receive.shorter ? bytes <= receive.bytes : bytes == receive.bytes;
  }
  void check_size(const Pending& receive) const;

  std::shared_ptr<ThreadGroup> group_;  // one for all its ranks
  Rank rank_;
  Delays delays_;
  TicketTable<Pending> pending_;
  int polls_to_next_notice_ = 0;
};

ThreadTransport::~ThreadTransport() {
  for (const Ticket ticket : pending_.tickets()) {
    const Pending& pending = pending_.at(ticket);
    if (pending.is_send) {
      // The data may be gone by now, so it can't be copied.
      const std::lock_guard lock(group_->mailbox(pending.peer).mutex);
      pending.message->withdrawn = !pending.message->taken;
    } else {
      cancel(ticket);
    }
  }
}

void keep_copy(ThreadMessage& message) {
  if (message.bytes == 0) return;
  const auto* bytes = static_cast<const std::byte*>(message.data);
  message.copy.assign(bytes, bytes + message.bytes);
  message.data = message.copy.data();
}

Ticket ThreadTransport::send(Rank peer, Tag tag, const void* data, std::size_t bytes) {
  enter();
  auto message = std::make_shared<ThreadMessage>();
  message->data = data;
  message->bytes = bytes;
  if (!group_->options().synchronous_sends) {
    keep_copy(*message);
    message->taken = true;
  }
  if (reaches(peer)) {
    ThreadMailbox& box = group_->mailbox(peer);
    const std::lock_guard lock(box.mutex);
    box.channels[{rank_, tag}].arrived.push_back(message);
  }
  return pending_.add({.is_send = true,
                       .peer = peer,
                       .tag = tag,
                       .bytes = bytes,
                       .message = std::move(message),
                       .polls_to_wait = delays_.draw()});
}

Ticket ThreadTransport::receive(Rank peer, Tag tag, void* data, std::size_t bytes, Sizes sizes) {
  enter();
  const Ticket ticket = pending_.add({.peer = peer,
                                      .tag = tag,
                                      .data = data,
                                      .bytes = bytes,
                                      .shorter = sizes == Sizes::at_most,
                                      .message = nullptr,
                                      .polls_to_wait = delays_.draw()});
  const std::lock_guard lock(mailbox().mutex);
  mailbox().channels[{peer, tag}].posted.push_back(ticket);
  return ticket;
}

bool ThreadTransport::test(Ticket ticket) {
  enter();
  Pending& pending = pending_.at(ticket);
  if (!pending.is_send && !pending.message) match({pending.peer, pending.tag});
  if (pending.is_send ? !pending.message->taken : !pending.message) return false;
  if (pending.polls_to_wait > 0) {
    --pending.polls_to_wait;
    return false;
  }
  if (!pending.is_send && !take(pending)) return false;
  const Pending done = pending_.remove(ticket);
  if (!done.is_send) check_size(done);
  return true;
}

void ThreadTransport::match(ThreadMailbox::Key key) {
  const std::lock_guard lock(mailbox().mutex);
  const auto found = mailbox().channels.find(key);
  ThreadChannel& channel = found->second;
  while (!channel.arrived.empty() && !channel.posted.empty()) {
    pending_.at(channel.posted.front()).message = std::move(channel.arrived.front());
    channel.arrived.pop_front();
    channel.posted.pop_front();
  }
  if (channel.arrived.empty() && channel.posted.empty()) mailbox().channels.erase(found);
}

/// Moves the message into the receiver's memory if it fits. False if there is nothing to take any
/// more.
bool ThreadTransport::take(const Pending& receive) {
  ThreadMessage& message = *receive.message;
  const std::lock_guard lock(mailbox().mutex);
  if (message.withdrawn) return false;
  if (fits(receive) && message.bytes > 0) std::memcpy(receive.data, message.data, message.bytes);
  message.taken = true;
  return true;
}

void ThreadTransport::check_size(const Pending& receive) const {
  if (fits(receive)) return;
  throw Error(
      ErrorCode::mismatch,
      fmt::format("rank {} expected a message of {} bytes from rank {} (tag {}), but it has "
                  "{} bytes: the ranks disagree about the operation",
                  rank_, receive.bytes, receive.peer, receive.tag, receive.message->bytes));
}

void ThreadTransport::cancel(Ticket ticket) {
  const Pending pending = pending_.remove(ticket);
  if (pending.is_send) {
    const std::lock_guard lock(group_->mailbox(pending.peer).mutex);
    if (!pending.message->taken) keep_copy(*pending.message);
    return;
  }
  const std::lock_guard lock(mailbox().mutex);
  if (pending.message) {
    pending.message->taken = true;  // matched: consumed, as MPI would
  } else {
    std::erase(mailbox().channels[{pending.peer, pending.tag}].posted, ticket);
  }
}

void ThreadTransport::notify(Rank peer, const Notice& notice) noexcept {
  if (!reaches(rank_) || !reaches(peer)) return;
  ThreadMailbox& box = group_->mailbox(peer);
  const std::lock_guard lock(box.mutex);
  box.notices.push_back(notice);
  box.notices.back().sender = rank_;
}

std::optional<Notice> ThreadTransport::poll_notice() {
  enter();
  const std::lock_guard lock(mailbox().mutex);
  if (mailbox().notices.empty() || polls_to_next_notice_-- > 0) return std::nullopt;
  polls_to_next_notice_ = delays_.draw();
  const Notice notice = mailbox().notices.front();
  mailbox().notices.pop_front();
  return notice;
}

std::unique_ptr<Transport> ThreadTransport::split(int color, int key) {
  enter();
  const ThreadGroup::Membership membership = group_->split(rank_, color, key);
  if (!membership.group) return nullptr;
  return std::make_unique<ThreadTransport>(membership.group, membership.rank);
}

std::vector<Rank> all_ranks(int size) {
  std::vector<Rank> ranks(size);
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

}  // namespace

ThreadWorld::ThreadWorld(const Topology& topology, const ThreadOptions& options)
    : job_(std::make_shared<ThreadJob>(topology.size())),
      group_(std::make_shared<ThreadGroup>(job_, all_ranks(topology.size()), topology, options)) {}

ThreadWorld::ThreadWorld(int size, const ThreadOptions& options)
    : ThreadWorld(Topology::one_node(size), options) {}

int ThreadWorld::size() const { return group_->size(); }

std::unique_ptr<Transport> ThreadWorld::transport(Rank rank) {
  return std::make_unique<ThreadTransport>(group_, rank);
}

void ThreadWorld::lose_after(Rank rank, std::uint64_t calls) { job_->lose_after(rank, calls); }

void ThreadWorld::abort(int status) { job_->abort(status); }

}  // namespace rondo::transport
