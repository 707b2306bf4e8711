#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "device/runtime.hpp"

namespace rondo::device {

class Gates;

/// Holds up a stream until it goes.
class Gate {
 public:
  Gate(Gate&& other) noexcept
      : gates_(std::exchange(other.gates_, nullptr)), which_(other.which_) {}
  Gate& operator=(Gate&& other) noexcept {
    std::swap(gates_, other.gates_);
    std::swap(which_, other.which_);
    return *this;
  }
  ~Gate();

 private:
  friend class Gates;
  Gate(Gates& gates, std::size_t which) : gates_(&gates), which_(which) {}

  Gates* gates_;
  std::size_t which_;
};

/// The gates of one device: words of pinned memory, each of which only grows. A stream waits for
/// the next number, so that one which comes late, when the word has long served another, passes.
/// Any thread may use it.
class Gates {
 public:
  static constexpr std::size_t kGates = 1024;

  /// Throws Error(cuda) where there is no memory. That stays until the runtime goes, since streams
  /// may look at it at any time.
  Gates(Runtime& runtime, int device);

  /// What is enqueued in `stream` from now on waits until the gate goes. Empty when all are in use.
  std::optional<Gate> hold_up(Stream& stream);

 private:
  friend class Gate;
  std::optional<Gate> take();
  void open(std::size_t which) noexcept;

  std::mutex mutex_;
  std::uint32_t* words_;
  std::vector<std::size_t> free_;
};

}  // namespace rondo::device
