#pragma once

#include "vectors.cuh"

namespace rondo::cuda {

/// The sources of a fold, in the order of their ranks, and where it goes.
struct FoldJob {
  const void* const* sources;
  int source_count;
  void* out;
  const Split& split;
  double scale;
  double divisor;
};

/// In ⊕ In ⊕ … → Out by kOp, through registers: memory is read and written once, however many
/// sources there are. Several blocks share the work, and none waits for another.
///
/// A thread has a few vectors of one source in flight while it works on those of the source before.
template <class In, class Out, ReduceOp kOp>
class Fold {
  using A = Accumulator<In>;
  static_assert(std::is_same_v<A, Accumulator<Out>>);

  // Lanes of one step, and how many steps a thread takes at once: both fit into registers.
  static constexpr int kLanes =
      kVectorBytes / (sizeof(In) < sizeof(Out) ? sizeof(In) : sizeof(Out));
  // Shifted ones take twice the room.
  template <bool kShifted>
  static constexpr int kSteps = (kLanes <= 4 ? 4 : 2) / (kShifted ? 2 : 1);

 public:
  __device__ explicit Fold(const FoldJob& job)
      : job_(job), scale_(static_cast<A>(job.scale)), divisor_(static_cast<A>(job.divisor)) {}

  /// Does the share of block `block` of `blocks`.
  __device__ void run(std::size_t block, std::size_t blocks) const {
    if (job_.split.shifted)
      run_steps<true>(block, blocks);
    else
      run_steps<false>(block, blocks);
    run_single(block * kThreads + threadIdx.x, blocks * kThreads);
  }

 private:
  template <bool kShifted>
  __device__ void run_steps(std::size_t block, std::size_t blocks) const {
    constexpr std::size_t kTile = std::size_t{kThreads} * kSteps<kShifted>;  // steps of a block
    const std::size_t steps = job_.split.steps;
    for (std::size_t tile = block * kTile; tile < steps; tile += blocks * kTile) {
      std::size_t step = tile + threadIdx.x;
      if (tile + kTile <= steps) {
        fold_steps<kShifted, kSteps<kShifted>>(step);
      } else {
        for (; step < steps; step += kThreads) fold_steps<kShifted, 1>(step);
      }
    }
  }

  /// The elements before and behind the steps.
  __device__ void run_single(std::size_t first, std::size_t stride) const {
    const std::size_t in_steps = job_.split.steps * kLanes;
    for (std::size_t e = first; e < job_.split.count - in_steps; e += stride) {
      const std::size_t i = e < job_.split.head ? e : e + in_steps;
      A value = scaled(load_one<In>(job_.sources[0], i));
      for (int s = 1; s < job_.source_count; ++s)
        value = core::combine<kOp>(value, scaled(load_one<In>(job_.sources[s], i)));
      store_one<Out>(job_.out, i, divided(value));
    }
  }

  template <bool kShifted, int kCount>
  __device__ void fold_steps(std::size_t step) const {
    Vectors<In, kLanes> next[kCount];
    Vectors<In, kLanes> now[kCount];
    A values[kCount][kLanes];
    load<kShifted>(next, 0, step);
    for (int s = 0; s < job_.source_count; ++s) {
#pragma unroll
      for (int k = 0; k < kCount; ++k) now[k] = next[k];
      if (s + 1 < job_.source_count) load<kShifted>(next, s + 1, step);
#pragma unroll
      for (int k = 0; k < kCount; ++k) take_in(values[k], now[k], s == 0);
    }
#pragma unroll
    for (int k = 0; k < kCount; ++k) store(values[k], step + k * kThreads);
  }

  __device__ void take_in(A (&values)[kLanes], const Vectors<In, kLanes>& more, bool first) const {
    A lanes[kLanes];
    more.widen(lanes);
#pragma unroll
    for (int i = 0; i < kLanes; ++i) {
      const A lane = scaled(lanes[i]);
      values[i] = first ? lane : core::combine<kOp>(values[i], lane);
    }
  }

  template <bool kShifted, int kCount>
  __device__ void load(Vectors<In, kLanes> (&to)[kCount], int source, std::size_t step) const {
    const auto* const from = static_cast<const In*>(job_.sources[source]) + job_.split.head;
#pragma unroll
    for (int k = 0; k < kCount; ++k)
      to[k] = Vectors<In, kLanes>::template load<kShifted>(from + (step + k * kThreads) * kLanes);
  }

  __device__ void store(A (&values)[kLanes], std::size_t step) const {
#pragma unroll
    for (int i = 0; i < kLanes; ++i) values[i] = divided(values[i]);
    Vectors<Out, kLanes>::narrow(values).store(static_cast<Out*>(job_.out) + job_.split.head +
                                               step * kLanes);
  }

  // Without a scaling, both leave numbers as they are.
  __device__ A scaled(A value) const {
    if constexpr (std::is_floating_point_v<A>) return value * scale_;
    return value;
  }
  __device__ A divided(A value) const {
    if constexpr (std::is_floating_point_v<A>) return divisor_ == A{1} ? value : value / divisor_;
    return value;
  }

  FoldJob job_;
  A scale_;
  A divisor_;
};

}  // namespace rondo::cuda
