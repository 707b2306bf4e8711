#include "support/host_group.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include <rondo/error.hpp>

#include "collectives/arithmetic.hpp"

namespace rondo::testing {

using device::GroupCall;
using Kind = GroupCall::Kind;

struct HostGroups::Meeting {
  struct Member {
    GroupCall call;
    bool ready = false;  // what comes before its call is over
  };
  std::vector<Member> members;
  int joined = 0;
  std::uint64_t done = 0;  // calls
};

class HostGroup : public device::Group {
 public:
  HostGroup(HostGroups& groups, std::shared_ptr<HostGroups::Meeting> meeting, Rank rank)
      : groups_(groups), meeting_(std::move(meeting)), rank_(rank) {
    const std::lock_guard lock(groups_.mutex_);
    if (groups_.lost_ != rank) ++meeting_->joined;
  }

  bool joined() override {
    const std::lock_guard lock(groups_.mutex_);
    return meeting_->joined == static_cast<int>(meeting_->members.size());
  }

  void start(const GroupCall& call, device::Event& after) override {
    const std::lock_guard lock(groups_.mutex_);
    member() = {call};
    after_ = &after;
    wanted_ = meeting_->done + 1;
  }

  bool step() override {
    if (Rank failing = rank_; groups_.failing_.compare_exchange_strong(failing, -1))
      throw Error(ErrorCode::nccl, "a call of the host's group failed: injected");
    const std::lock_guard lock(groups_.mutex_);
    if (meeting_->done >= wanted_) return groups_.stalled_ != rank_;
    // Each looks at its own event alone: who fails takes it away.
    member().ready = member().ready || after_->done();
    if (all_are_ready()) do_it();
    return meeting_->done >= wanted_ && groups_.stalled_ != rank_;
  }

  void abort() noexcept override { ++groups_.aborts_; }

 private:
  bool all_are_ready() {
    return std::all_of(meeting_->members.begin(), meeting_->members.end(),
                       [](const auto& member) { return member.ready; });
  }
  HostGroups::Meeting::Member& member() {
    return meeting_->members[static_cast<std::size_t>(rank_)];
  }
  std::byte* open(const void* data, std::size_t bytes) {
    return groups_.device_.reach(data, bytes);
  }
  void do_it();
  std::vector<std::byte> result_for(std::size_t rank);
  std::vector<std::byte> reduced(std::size_t first, std::size_t count);

  HostGroups& groups_;
  std::shared_ptr<HostGroups::Meeting> meeting_;
  Rank rank_;
  device::Event* after_ = nullptr;
  std::uint64_t wanted_ = 0;
};

/// All inputs are read before any output is written, so that in place is right.
void HostGroup::do_it() {
  auto& members = meeting_->members;
  std::vector<std::vector<std::byte>> results;
  for (std::size_t rank = 0; rank < members.size(); ++rank) results.push_back(result_for(rank));
  for (std::size_t rank = 0; rank < members.size(); ++rank) {
    const auto& result = results[rank];
    if (!result.empty())
      std::memcpy(open(members[rank].call.output, result.size()), result.data(), result.size());
    members[rank].ready = false;
  }
  ++meeting_->done;
  ++groups_.calls_;
}

std::vector<std::byte> HostGroup::reduced(std::size_t first, std::size_t count) {
  const GroupCall& call = meeting_->members.front().call;
  const std::size_t element = size_of(call.type);
  std::vector<const void*> inputs;
  for (const auto& member : meeting_->members)
    inputs.push_back(open(member.call.input, (first + count) * element) + first * element);
  std::vector<std::byte> result(count * element);
  collectives::Arithmetic(call.type, call.op, static_cast<int>(inputs.size()), 1.0, false)
      .reduce_all(inputs, result.data(), count);
  return result;
}

std::vector<std::byte> HostGroup::result_for(std::size_t rank) {
  const auto& members = meeting_->members;
  const GroupCall& call = members[rank].call;
  const bool is_root = static_cast<Rank>(rank) == call.root;
  const std::size_t bytes = call.count * size_of(call.type);
  std::vector<std::byte> result;
  const auto take = [&](std::size_t from, std::size_t block) {
    const std::byte* data = open(members[from].call.input, (block + 1) * bytes) + block * bytes;
    result.insert(result.end(), data, data + bytes);
  };
  switch (call.kind) {
    case Kind::allreduce:
      return reduced(0, call.count);
    case Kind::reduce:
      return is_root ? reduced(0, call.count) : result;
    case Kind::reduce_scatter:
      return reduced(rank * call.count, call.count);
    case Kind::broadcast:
      take(static_cast<std::size_t>(call.root), 0);
      return result;
    case Kind::scatter:
      take(static_cast<std::size_t>(call.root), rank);
      return result;
    case Kind::gather:
      if (!is_root) return result;
      [[fallthrough]];
    case Kind::allgather:
    case Kind::all_to_all:
      for (std::size_t from = 0; from < members.size(); ++from)
        take(from, call.kind == Kind::all_to_all ? rank : 0);
      return result;
  }
  return result;
}

device::GroupId HostGroups::make_id() {
  if (refuses_ids_) throw Error(ErrorCode::nccl, "no group can be made");
  const std::lock_guard lock(mutex_);
  device::GroupId id;
  ++made_;
  std::memcpy(id.bytes.data(), &made_, sizeof made_);
  return id;
}

std::unique_ptr<device::Group> HostGroups::join(const device::GroupId& id, Rank rank, int size,
                                                int) {
  std::shared_ptr<Meeting> meeting;
  {
    const std::lock_guard lock(mutex_);
    std::uint64_t number = 0;
    std::memcpy(&number, id.bytes.data(), sizeof number);
    auto& place = meetings_[number];
    if (place == nullptr) place = std::make_shared<Meeting>();
    place->members.resize(static_cast<std::size_t>(size));
    meeting = place;
  }
  return std::make_unique<HostGroup>(*this, meeting, rank);
}

}  // namespace rondo::testing
