#include <rondo/train/schedule.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/core.h>

#include <rondo/error.hpp>

namespace rondo::train {

double Schedule::at(std::uint64_t step) const {
  if (step < warmup_steps)
    return base * (static_cast<double>(step + 1) / static_cast<double>(warmup_steps));
  if (shape == Shape::constant) return base;
  const std::uint64_t done = step - warmup_steps;
  if (shape == Shape::step) {
    const std::uint64_t decays = done / decay_every;
    return base * std::pow(decay, static_cast<double>(decays));
  }
  const std::uint64_t length = total_steps - warmup_steps;
  if (done >= length) return 0.0;
  const double progress = static_cast<double>(done) / static_cast<double>(length);
  return base * (1.0 + std::cos(std::numbers::pi * progress)) / 2.0;
}

void Schedule::check() const {
  if (!std::isfinite(base) || base < 0.0)
    throw Error(ErrorCode::usage,
                fmt::format("a learning rate of {} is not possible; give a finite "
                            "number of at least 0",
                            base));
  if (shape == Shape::cosine && (total_steps == 0 || warmup_steps > total_steps))
    throw Error(ErrorCode::usage,
                fmt::format("a cosine schedule of {} steps can't hold {} steps of warm-up; warm up "
                            "for fewer steps or train for more",
                            total_steps, warmup_steps));
  if (shape == Shape::step && (decay_every == 0 || !(decay >= 0.0 && decay <= 1.0)))
    throw Error(
        ErrorCode::usage,
        fmt::format("a learning rate can't be multiplied by {} every {} steps; give a factor "
                    "in [0, 1] and at least 1 step",
                    decay, decay_every));
}

}  // namespace rondo::train
