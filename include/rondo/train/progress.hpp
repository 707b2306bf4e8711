#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace rondo::train {

/// Counts samples, and how many there were in a second since it was made.
class Stopwatch {
 public:
  void add(std::uint64_t samples) { samples_ += samples; }
  double rate() const;

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::uint64_t samples_ = 0;
};

/// Shows on standard output how a training gets on: on a terminal a bar that is redrawn in place,
/// at most ten times a second; elsewhere one plain line an epoch. Make one on rank 0 only, or say
/// `silent` on the others.
class Progress {
 public:
  enum class Style { bar, lines, silent };

  /// bar when standard output ends at a terminal, else lines. (Open MPI gives every rank a
  /// terminal of its own, whatever mpirun's output is; so its parent is asked too.)
  static Style detect_style();

  /// `counted` is what a speed counts.
  Progress(Style style, std::uint64_t epochs, std::uint64_t steps_per_epoch,
           std::string counted = "samples");

  /// After each step: `step` of this epoch (from 1) is done; `loss` is the epoch's mean so far.
  void step(std::uint64_t epoch, std::uint64_t step, double loss, double per_second);

  /// After each epoch (from 1).
  void epoch(std::uint64_t epoch, double loss, double learning_rate, double per_second);

 private:
  Style style_;
  std::uint64_t epochs_;
  std::uint64_t steps_per_epoch_;
  std::string counted_;
  std::chrono::steady_clock::time_point last_drawn_{};
};

}  // namespace rondo::train
