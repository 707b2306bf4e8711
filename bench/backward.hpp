#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <rondo/types.hpp>

namespace rondo::bench {

/// The layers of a model as far as its backward pass goes: each has one parameter, of float32.
struct ModelShape {
  int layers = 32;
  std::size_t layer_bytes = std::size_t{2} << 20;
  std::size_t edge_bytes = std::size_t{256} << 10;  // of the first and the last layer

  /// Elements of each layer's gradient, in forward order.
  std::vector<std::size_t> counts() const;
};

/// A fixed number of floating-point operations on data that stay in the first cache.
class Computation {
 public:
  static constexpr std::size_t kElements = 2048;
  static constexpr std::uint64_t kOperations = 2 * kElements;  // of a pass

  void run(std::uint64_t passes);

 private:
  std::vector<float> values_ = std::vector<float>(kElements, 1.0F);
};

/// Writes what `rank` contributes to a layer's gradient: small whole numbers that differ from place
/// to place, layer to layer, rank to rank and turn to turn.
void write_gradient(std::span<float> gradient, std::size_t layer, std::uint64_t turn, Rank rank);

/// How many elements of a layer's gradient are not the mean over all ranks, to float32's rounding.
std::size_t count_wrong(std::span<const float> gradient, std::size_t layer, std::uint64_t turn,
                        int ranks);

}  // namespace rondo::bench
