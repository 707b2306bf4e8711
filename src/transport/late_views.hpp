#pragma once

#include <atomic>
#include <cstdint>
#include <random>
#include <unordered_map>

namespace rondo::transport {

/// What a slow observer has seen of numbers that others raise: each change is noticed only after a
/// random number of looks, as if it had been under way so long. Tests use it to shuffle what waits
/// for what.
class LateViews {
 public:
  explicit LateViews(std::uint64_t seed) : random_(static_cast<std::uint32_t>(seed)) {}

  /// The number as seen now: never more than it is, and never less than seen before.
  std::uint64_t look_at(const std::atomic<std::uint64_t>& number) {
    View& view = views_[&number];
    if (view.looks_left > 0) {
      if (--view.looks_left == 0) view.seen = number.load(std::memory_order_acquire);
    } else if (number.load(std::memory_order_relaxed) != view.seen) {
      view.looks_left = draw();
    }
    return view.seen;
  }

 private:
  struct View {
    std::uint64_t seen = 0;
    int looks_left = 0;  // until a change that is on its way is seen
  };

  int draw() {
    const auto value = random_();
    if (value % 16 == 0) return 50;  // now and then, long after the others
    return 1 + static_cast<int>(value % 4);
  }

  std::minstd_rand random_;
  std::unordered_map<const std::atomic<std::uint64_t>*, View> views_;
};

}  // namespace rondo::transport
