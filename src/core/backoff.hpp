#pragma once

namespace rondo::core {

/// How to wait for something that must be polled: spin briefly, then yield the processor, and after
/// a while sleep between looks, so that more ranks than cores, and long waits, cost little.
class Backoff {
 public:
  /// `crowded`: what is waited for may need this processor, so it is yielded from the beginning.
  explicit Backoff(bool crowded = false) : spins_(crowded ? 0 : kSpins) {}

  void reset() { idle_ = 0; }

  /// Call after a look that found nothing new.
  void pause();

  /// True now and then, when rarer things (notices, the deadline) are worth a look.
  bool look_around() const { return idle_ % 64 == 63 || idle_ >= spins_ + kYields; }

 private:
  void yield_now_and_then() const;

  static constexpr int kSpins = 1000;
  static constexpr int kYields = 20'000;

  int spins_;
  int idle_ = 0;
};

}  // namespace rondo::core
