#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "device/runtime.hpp"

namespace rondo::device {

class Gates;

/// Holds up a stream until it goes.
class Gate {
 public:
  Gate(Gate&& other) noexcept : gates_(std::exchange(other.gates_, nullptr)), word_(other.word_) {}
  Gate& operator=(Gate&& other) noexcept {
    std::swap(gates_, other.gates_);
    std::swap(word_, other.word_);
    return *this;
  }
  ~Gate();

 private:
  friend class Gates;
  Gate(Gates& gates, std::uint32_t& word) : gates_(&gates), word_(&word) {}

  Gates* gates_;
  std::uint32_t* word_;
};

/// The gates of one device: words of pinned memory, each of which only grows. A stream waits for
/// the next number, so that one which comes late, when the word has long served another, passes.
/// There are as many as were in use at once. Any thread may use it.
class Gates {
 public:
  /// The memory stays until the runtime goes, since streams may look at it at any time.
  Gates(Runtime& runtime, int device) : runtime_(runtime), device_(device) {}

  /// What is enqueued in `stream` from now on waits until the gate goes. Throws Error(cuda).
  Gate hold_up(Stream& stream);

  /// How many there are.
  std::size_t size();

 private:
  friend class Gate;
  Gate take();
  void add_words();
  void open(std::uint32_t& word) noexcept;

  Runtime& runtime_;
  int device_;
  std::mutex mutex_;
  std::size_t size_ = 0;
  std::vector<std::uint32_t*> free_;
};

}  // namespace rondo::device
