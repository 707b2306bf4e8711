#include "engine/messages.hpp"

namespace rondo::engine {

void Messages::add(Launch& launch) {
  if (free_.empty()) free_.emplace_back(transport_);
  Pending& one = free_.front();
  one.launch = &launch;
  one.begun = false;
  if (launch.kind == Launch::Kind::send)
    begin(one);
  else
    one.turn = ++last_turn_[static_cast<std::size_t>(launch.call.root)];
  pending_.splice(pending_.end(), free_, free_.begin());
  ++count_;
}

void Messages::begin(Pending& one) {
  const Call& call = one.launch->call;
  one.begun = true;
  if (one.launch->kind == Launch::Kind::send) return one.message.start_send(call.input, call.root);
  one.launch->deadline.start.reset();  // the time of those before it isn't its own
  one.message.start_receive(call.output, call.root);
}

bool Messages::step() {
  bool moved = false;
  for (auto at = pending_.begin(); at != pending_.end();) {
    const auto one = at++;
    if (!one->begun) {
      if (one->turn != turn_[static_cast<std::size_t>(one->launch->call.root)] + 1) continue;
      begin(*one);
      moved = true;
    }
    const bool over = one->message.step();
    moved |= over || one->message.progressed();
    if (!over) continue;
    end(*one);
    free_.splice(free_.end(), pending_, one);
  }
  return moved;
}

void Messages::end(Pending& one) {
  Launch& launch = *one.launch;
  if (launch.kind == Launch::Kind::receive) ++turn_[static_cast<std::size_t>(launch.call.root)];
  launch.over_at = Deadline::Clock::now();
  --count_;
  launch.state.store(Launch::State::done, std::memory_order_release);
}

void Messages::cancel() {
  for (Pending& one : pending_)
    if (one.begun) one.message.cancel();
}

void Messages::fail(const Error& error) noexcept {
  for (Pending& one : pending_) {
    Launch& launch = *one.launch;
    launch.error = error;
    --count_;
    launch.state.store(Launch::State::failed, std::memory_order_release);
  }
  turn_ = last_turn_;
  failed_.splice(failed_.end(), pending_);
}

}  // namespace rondo::engine
