#include "collectives/replay.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

namespace rondo::collectives {

namespace {
template <class T>
auto& get(T& container, int index) {
  return container[static_cast<std::size_t>(index)];
}
}  // namespace

Replay::Replay(std::vector<Plan> plans, const Layout& layout, const Cutting& cutting, int window)
    : plans_(std::move(plans)), window_(static_cast<std::size_t>(window)) {
  ranks_.resize(plans_.size());
  for (Rank rank = 0; rank < std::ssize(plans_); ++rank) load(rank, layout, cutting);
  sort_into_streams();
  for (int stream = 0; stream < std::ssize(streams_); ++stream) start_pieces(stream);
}

/// Cuts the plan of a rank; what can be computed at once becomes possible.
void Replay::load(Rank rank, const Layout& layout, const Cutting& cutting) {
  RankTasks& mine = get(ranks_, rank);
  mine.pieces = cut(get(plans_, rank), layout, cutting);
  mine.tasks.resize(mine.pieces.size());
  for (int index = 0; index < std::ssize(mine.pieces); ++index) {
    std::vector<int>& waits_for = get(mine.pieces, index).waits_for;
    for (const int earlier : waits_for) get(mine.tasks, earlier).followers.push_back(index);
    get(mine.tasks, index).waiting = static_cast<int>(waits_for.size());
    const PieceOf of{rank, index};
    if (waits_for.empty() && step(of).peer < 0) possible_.push_back({Event::Kind::compute, {}, of});
    waits_for = {};
  }
}

void Replay::sort_into_streams() {
  std::map<std::tuple<Rank, Rank, int>, int> numbers;
  for (Rank rank = 0; rank < std::ssize(ranks_); ++rank) {
    for (int index = 0; index < std::ssize(get(ranks_, rank).pieces); ++index) {
      const Step& what = step({rank, index});
      if (what.peer < 0) continue;
      const bool sends = !what.is_receive();
      const auto key = sends ? std::tuple(rank, what.peer, int{what.channel})
                             : std::tuple(what.peer, rank, int{what.channel});
      const auto number = numbers.try_emplace(key, static_cast<int>(streams_.size())).first->second;
      if (number == std::ssize(streams_)) streams_.emplace_back();
      Side& side = sends ? get(streams_, number).sender : get(streams_, number).receiver;
      side.rank = rank;
      side.pieces.push_back(index);
      task({rank, index}).stream = number;
    }
  }
}

std::optional<Event> Replay::next() {
  if (possible_.empty()) return std::nullopt;
  const Event event = possible_.front();
  possible_.pop_front();
  return event;
}

void Replay::done(const Event& event) {
  const int stream = task(event.receiver).stream;
  if (event.kind == Event::Kind::message) {
    task(event.sender).arrived = true;
    task(event.receiver).arrived = true;
    complete_in_order(get(streams_, stream).sender);
    complete_in_order(get(streams_, stream).receiver);
    start_pieces(stream);
    return;
  }
  complete(event.receiver);
  if (stream < 0) return;
  ++get(streams_, stream).receiver.completed;
  complete_in_order(get(streams_, stream).receiver);
  start_pieces(stream);
}

/// Completes the oldest pieces that have arrived. One that is still to be reduced completes when
/// that is done.
void Replay::complete_in_order(Side& side) {
  while (side.completed < side.started) {
    const PieceOf oldest{side.rank, side.pieces[side.completed]};
    if (!task(oldest).arrived) return;
    if (step(oldest).kind == StepKind::receive_reduce) return offer_reduction(oldest);
    ++side.completed;
    complete(oldest);
  }
}

void Replay::offer_reduction(PieceOf of) {
  Task& mine = task(of);
  if (mine.waiting > 0 || mine.offered) return;
  mine.offered = true;
  possible_.push_back({Event::Kind::compute, {}, of});
}

void Replay::complete(PieceOf of) {
  task(of).done = true;
  for (const int follower : task(of).followers)
    if (--task({of.rank, follower}).waiting == 0) wake({of.rank, follower});
}

/// What a piece waited for is done.
void Replay::wake(PieceOf of) {
  const int stream = task(of).stream;
  if (stream < 0)
    possible_.push_back({Event::Kind::compute, {}, of});
  else if (step(of).kind == StepKind::receive_reduce)
    complete_in_order(get(streams_, stream).receiver);
  else
    start_pieces(stream);
}

void Replay::start_pieces(int number) {
  Stream& stream = get(streams_, number);
  for (Side* side : {&stream.sender, &stream.receiver})
    while (may_start_next(*side)) ++side->started;
  for (; stream.matched < std::min(stream.sender.started, stream.receiver.started);
       ++stream.matched)
    possible_.push_back({Event::Kind::message,
                         {stream.sender.rank, stream.sender.pieces[stream.matched]},
                         {stream.receiver.rank, stream.receiver.pieces[stream.matched]}});
}

bool Replay::may_start_next(const Side& side) const {
  if (side.started == side.pieces.size() || side.started - side.completed == window_) return false;
  const PieceOf next{side.rank, side.pieces[side.started]};
  return step(next).kind == StepKind::receive_reduce || task(next).waiting == 0;
}

std::optional<PieceOf> Replay::first_unfinished() const {
  for (Rank rank = 0; rank < std::ssize(ranks_); ++rank) {
    const std::vector<Task>& tasks = get(ranks_, rank).tasks;
    const auto task = std::find_if(tasks.begin(), tasks.end(), [](auto& t) { return !t.done; });
    if (task != tasks.end()) return PieceOf{rank, static_cast<int>(task - tasks.begin())};
  }
  return std::nullopt;
}

const Piece& Replay::piece(PieceOf of) const { return get(get(ranks_, of.rank).pieces, of.piece); }

const Step& Replay::step(PieceOf of) const {
  return get(get(plans_, of.rank).steps(), piece(of).step);
}

Replay::Task& Replay::task(PieceOf of) { return get(get(ranks_, of.rank).tasks, of.piece); }

const Replay::Task& Replay::task(PieceOf of) const {
  return get(get(ranks_, of.rank).tasks, of.piece);
}

}  // namespace rondo::collectives
