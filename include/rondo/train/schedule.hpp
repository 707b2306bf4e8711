#pragma once

#include <cstdint>

namespace rondo::train {

/// The learning rate as a function of the step s = 0, 1, …, counted in optimizer steps.
///
///   s < warmup_steps   base·(s + 1)/warmup_steps            linear warm-up; its last step has base
///   constant           base
///   cosine             base·(1 + cos(π·t/T))/2              t = s - warmup_steps, at most T
///                                                           T = total_steps - warmup_steps
///   step               base·decay^⌊(s - warmup_steps)/decay_every⌋
///
/// Cosine is PyTorch's CosineAnnealingLR(T_max=T, eta_min=0) in closed form: base at t = 0, and 0
/// from t = T on. Step is its StepLR(step_size=decay_every, gamma=decay). A function of s alone, so
/// a resumed run has nothing to restore but s.
struct Schedule {
  enum class Shape { constant, cosine, step };

  double base = 0.0;
  Shape shape = Shape::constant;
  std::uint64_t warmup_steps = 0;
  std::uint64_t total_steps = 0;  // cosine only
  std::uint64_t decay_every = 0;  // step only
  double decay = 0.1;             // step only

  double at(std::uint64_t step) const;

  /// Throws Error(usage), saying what is wrong, unless base is finite and ≥ 0, and, for cosine,
  /// total_steps > 0 and warmup_steps ≤ total_steps, and, for step, decay_every > 0 and
  /// 0 ≤ decay ≤ 1.
  void check() const;
};

}  // namespace rondo::train
