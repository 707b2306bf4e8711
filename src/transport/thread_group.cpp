#include "transport/thread_group.hpp"

#include <algorithm>
#include <chrono>
#include <tuple>

#include <fmt/format.h>

#include <rondo/error.hpp>

namespace rondo::transport {

void ThreadJob::enter(Rank world_rank) {
  check_alive();
  auto& calls = calls_left_[world_rank];
  std::uint64_t left = calls;
  while (left != kForever && left != 0 && !calls.compare_exchange_weak(left, left - 1)) {
  }
  if (left == 0)
    throw Error(ErrorCode::peer_lost, fmt::format("rank {} of the threads is lost", world_rank));
}

void ThreadJob::check_alive() const {
  if (aborted_)
    throw Error(ErrorCode::peer_lost,
                fmt::format("the job of threads was aborted with status {}", status_.load()));
}

void ThreadJob::abort(int status) {
  status_ = status;
  aborted_ = true;
}

ThreadGroup::ThreadGroup(std::shared_ptr<ThreadJob> job, std::vector<Rank> world_ranks,
                         Topology topology, const ThreadOptions& options)
    : job_(std::move(job)),
      world_ranks_(std::move(world_ranks)),
      topology_(std::move(topology)),
      options_(options),
      mailboxes_(topology_.size()),
      round_(std::make_shared<SplitRound>(topology_.size())) {}

ThreadGroup::Membership ThreadGroup::split(Rank rank, int color, int key) {
  std::unique_lock lock(split_mutex_);
  const std::shared_ptr<SplitRound> round = round_;
  round->requests[rank] = {color, key};
  if (++round->arrived == size()) {
    finish(*round);
    round_ = std::make_shared<SplitRound>(size());
    split_done_.notify_all();
  }
  while (!round->done) {
    split_done_.wait_for(lock, std::chrono::milliseconds(10));
    job_->check_alive();
  }
  return round->results[rank];
}

void ThreadGroup::finish(SplitRound& round) const {
  std::map<int, std::vector<Rank>> members_of;
  for (Rank rank = 0; rank < size(); ++rank)
    if (round.requests[rank].color >= 0) members_of[round.requests[rank].color].push_back(rank);
  for (auto& [color, members] : members_of) {
    std::stable_sort(members.begin(), members.end(), [&round](Rank a, Rank b) {
      return round.requests[a].key < round.requests[b].key;
    });
    const auto group = subgroup(members);
    for (Rank rank = 0; rank < group->size(); ++rank) round.results[members[rank]] = {group, rank};
  }
  round.done = true;
}

std::shared_ptr<ThreadGroup> ThreadGroup::subgroup(const std::vector<Rank>& members) const {
  std::vector<Rank> world_ranks;
  std::vector<int> node_of;
  for (const Rank member : members) {
    world_ranks.push_back(world_ranks_[member]);
    node_of.push_back(topology_.node_of(member));
  }
  return std::make_shared<ThreadGroup>(job_, std::move(world_ranks), Topology(std::move(node_of)),
                                       options_);
}

}  // namespace rondo::transport
