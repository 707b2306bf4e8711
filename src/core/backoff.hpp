#pragma once

namespace rondo::core {

/// How to wait for something that must be polled: spin briefly, then yield the processor, and after
/// a while sleep, so that more ranks than cores, and long waits, cost little.
class Backoff {
 public:
  /// `crowded`: what is waited for may need this processor, so it is yielded from the beginning.
  explicit Backoff(bool crowded = false) : spins_(crowded ? 0 : kSpins) {}

  void reset() {
    idle_ = 0;
    slept_ = false;
  }

  /// Call after a look that found nothing new. Sleeps in naps.
  void pause() {
    if (pause_briefly(kYieldsBeforeNaps)) nap();
  }
  /// The same where whoever is waited for ends `sleep()`, which may then begin sooner.
  template <class Sleep>
  void pause_or(Sleep sleep) {
    if (pause_briefly(kYieldsBeforeSleep)) sleep();
  }

  /// True now and then, when rarer things (notices, the deadline) are worth a look.
  bool look_around() const { return slept_ || idle_ % 64 == 63; }

 private:
  static constexpr int kSpins = 1000;
  static constexpr int kYieldsBeforeNaps = 20'000;
  static constexpr int kYieldsBeforeSleep = 4'000;

  /// True, and nothing done, when it is time to sleep.
  bool pause_briefly(int yields);
  static void nap();
  void yield_now_and_then() const;

  int spins_;
  int idle_ = 0;
  bool slept_ = false;
};

}  // namespace rondo::core
