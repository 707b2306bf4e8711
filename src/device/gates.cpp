#include "device/gates.hpp"

#include <algorithm>
#include <atomic>

namespace rondo::device {

Gate::~Gate() {
  if (gates_ != nullptr) gates_->open(*word_);
}

Gate Gates::hold_up(Stream& stream) {
  Gate gate = take();
  stream.wait_value(gate.word_, *gate.word_ + 1);
  return gate;
}

std::size_t Gates::size() {
  const std::lock_guard lock(mutex_);
  return size_;
}

Gate Gates::take() {
  std::unique_lock lock(mutex_);
  while (free_.empty()) {
    lock.unlock();
    add_words();
    lock.lock();
  }
  std::uint32_t& word = *free_.back();
  free_.pop_back();
  return {*this, word};
}

/// The allocation may wait for work that waits for a gate, so others open theirs meanwhile.
void Gates::add_words() {
  constexpr std::size_t kWords = 1024;
  void* const memory =
      runtime_.allocate({MemoryKind::pinned, device_}, kWords * sizeof(std::uint32_t));
  const std::lock_guard lock(mutex_);
  free_.reserve(size_ + kWords);
  auto* const words = static_cast<std::uint32_t*>(memory);
  std::fill_n(words, kWords, 0U);
  for (std::size_t i = kWords; i > 0; --i) free_.push_back(words + i - 1);
  size_ += kWords;
}

void Gates::open(std::uint32_t& word) noexcept {
  const std::lock_guard lock(mutex_);
  // After all that was copied before, for devices too.
  const std::atomic_ref shared(word);
  shared.store(shared.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst);
  free_.push_back(&word);
}

}  // namespace rondo::device
