#pragma once

#include <cstddef>

#include "device/runtime.hpp"

/// What the host hands to kernels. Both compile it.
namespace rondo::cuda {

inline constexpr unsigned kThreads = 256;  // of a block
inline constexpr std::size_t kVectorBytes = 16;

/// How the elements of an array are shared out: first `head` single ones, so that the output is
/// aligned behind them; then `steps` groups of whole vectors; then single ones again.
struct Split {
  std::size_t count = 0;  ///< of all elements
  std::size_t head = 0;
  std::size_t steps = 0;
  bool shifted = false;  ///< a source is not aligned where the output is
};

inline constexpr int kMostSources = device::Stream::kMostSources;

/// out[i] = (…(x0[i]·scale ⊕ x1[i]·scale) ⊕ …) / divisor
struct ReduceArguments {
  const void* sources[kMostSources];
  int source_count;
  void* out;
  Split split;
  double scale;
  double divisor;
};

inline constexpr int kMostPieces = 64;

/// to[i] = from[i]·scale / divisor for each piece, by `blocks` blocks from `first_block` on.
struct ConvertArguments {
  struct Piece {
    const void* from;
    void* to;
    Split split;
    unsigned first_block;
    unsigned blocks;
  };
  Piece pieces[kMostPieces];
  int piece_count;
  double scale;
  double divisor;
};

/// Behind the function of core/each.hpp that is done.
struct EachArguments {
  std::size_t count;  // of indices
  void* arrays[device::kMostArrays];
};

}  // namespace rondo::cuda
