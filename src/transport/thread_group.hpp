#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "transport/thread_transport.hpp"
#include "transport/transport.hpp"

// What the transports of ranks that are threads share.
namespace rondo::transport {

/// The life and death of the ranks of a world, whatever groups they were split into.
class ThreadJob {
 public:
  explicit ThreadJob(int size) : calls_left_(size) {
    for (auto& calls : calls_left_) calls = kForever;
  }

  /// Counts a call of `world_rank`; throws Error(peer_lost) if the job was aborted or this rank is
  /// lost.
  void enter(Rank world_rank);
  void check_alive() const;
  void abort(int status);
  void lose_after(Rank world_rank, std::uint64_t calls) { calls_left_[world_rank] = calls; }
  /// Tells the ranks of all worlds apart.
  const void* process_of(Rank world_rank) const { return &calls_left_[world_rank]; }
  bool is_lost(Rank world_rank) const { return calls_left_[world_rank] == 0; }

 private:
  static constexpr std::uint64_t kForever = std::numeric_limits<std::uint64_t>::max();
  std::vector<std::atomic<std::uint64_t>> calls_left_;
  std::atomic<bool> aborted_ = false;
  std::atomic<int> status_ = 0;
};

/// A message on its way. Once it lies in the receiver's mailbox, that one's mutex guards it.
struct ThreadMessage {
  const void* data = nullptr;
  std::size_t bytes = 0;
  std::vector<std::byte> copy;      // holds the data unless the send is synchronous
  std::atomic<bool> taken = false;  // the sender's memory is free again; set under the mutex
  bool withdrawn = false;           // the sender went away before it was taken
};

/// Messages from one rank with one tag are matched with receives in order.
struct ThreadChannel {
  // Shared by the sender, which asks whether it was taken, and the receiver.
  std::deque<std::shared_ptr<ThreadMessage>> arrived;
  std::deque<Ticket> posted;
};

struct ThreadMailbox {
  using Key = std::pair<Rank, Tag>;
  std::mutex mutex;
  std::map<Key, ThreadChannel> channels;
  std::deque<Notice> notices;
};

/// The ranks of one communicator.
class ThreadGroup {
 public:
  ThreadGroup(std::shared_ptr<ThreadJob> job, std::vector<Rank> world_ranks, Topology topology,
              const ThreadOptions& options);

  struct Membership {
    std::shared_ptr<ThreadGroup> group;  // null: member of none
    Rank rank = -1;
  };
  /// Waits for all ranks of the group.
  Membership split(Rank rank, int color, int key);

  int size() const { return topology_.size(); }
  const Topology& topology() const { return topology_; }
  const ThreadOptions& options() const { return options_; }
  Rank world_rank(Rank rank) const { return world_ranks_[rank]; }
  ThreadJob& job() { return *job_; }
  ThreadMailbox& mailbox(Rank rank) { return mailboxes_[rank]; }

 private:
  struct SplitRequest {
    int color = 0;
    int key = 0;
  };
  struct SplitRound {
    explicit SplitRound(int size) : requests(size), results(size) {}
    std::vector<SplitRequest> requests;
    std::vector<Membership> results;
    int arrived = 0;
    bool done = false;
  };
  void finish(SplitRound& round) const;
  std::shared_ptr<ThreadGroup> subgroup(const std::vector<Rank>& members) const;

  std::shared_ptr<ThreadJob> job_;  // one for all groups of a world
  std::vector<Rank> world_ranks_;
  Topology topology_;
  ThreadOptions options_;
  std::vector<ThreadMailbox> mailboxes_;

  std::mutex split_mutex_;
  std::condition_variable split_done_;
  std::shared_ptr<SplitRound> round_;  // kept by each waiting rank until it has read its result
};

}  // namespace rondo::transport
