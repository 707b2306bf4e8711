#include "device/gates.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>

namespace rondo::device {

Gate::~Gate() {
  if (gates_ != nullptr) gates_->open(which_);
}

Gates::Gates(Runtime& runtime, int device) : free_(kGates) {
  std::iota(free_.begin(), free_.end(), std::size_t{0});
  constexpr std::size_t kBytes = kGates * sizeof(std::uint32_t);
  words_ = static_cast<std::uint32_t*>(runtime.allocate({MemoryKind::pinned, device}, kBytes));
  std::fill_n(words_, kGates, 0U);
}

std::optional<Gate> Gates::hold_up(Stream& stream) {
  std::optional<Gate> gate = take();
  if (gate) {
    const std::uint32_t& word = words_[gate->which_];
    stream.wait_value(&word, word + 1);
  }
  return gate;
}

std::optional<Gate> Gates::take() {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) return std::nullopt;
  const std::size_t which = free_.back();
  free_.pop_back();
  return Gate(*this, which);
}

void Gates::open(std::size_t which) noexcept {
  const std::lock_guard lock(mutex_);
  // After all that was copied before, for devices too.
  const std::atomic_ref word(words_[which]);
  word.store(word.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst);
  free_.push_back(which);
}

}  // namespace rondo::device
