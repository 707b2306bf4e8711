#include "engine/launch.hpp"

namespace rondo::engine {

void Launch::keep(const Call& new_call, const Terms& new_terms) {
  call = new_call;
  input_counts_.assign(call.input_counts.begin(), call.input_counts.end());
  output_counts_.assign(call.output_counts.begin(), call.output_counts.end());
  call.input_counts = input_counts_;
  call.output_counts = output_counts_;
  terms = new_terms;
  wanted_algorithm_ = terms.per_call_algorithm;
  terms.per_call_algorithm = wanted_algorithm_;
}

Launch& LaunchPool::take() {
  const std::lock_guard lock(mutex_);
  if (free_ == nullptr) {
    all_.push_back(std::make_unique<Launch>());
    return *all_.back();
  }
  Launch& launch = *free_;
  free_ = launch.next;
  launch.state.store(Launch::State::pending, std::memory_order_relaxed);
  launch.error.reset();
  launch.algorithm = {};
  launch.owner = nullptr;
  launch.next = nullptr;
  launch.kind = Launch::Kind::collective;
  return launch;
}

void LaunchPool::give_back(Launch& launch) {
  const std::lock_guard lock(mutex_);
  launch.next = free_;
  free_ = &launch;
}

void LaunchPool::forget_session() {
  const std::lock_guard lock(mutex_);
  for (const auto& launch : all_) launch->session = nullptr;
}

}  // namespace rondo::engine
