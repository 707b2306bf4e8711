#include <rondo/train/permutation.hpp>

#include <numeric>
#include <utility>

#include "train/random.hpp"

namespace rondo::train {
namespace {

/// Uniform in [0, bound), bound > 0: the upper half of a 128-bit product. The `2^64 mod bound`
/// lowest products of each stretch would favour some results, so they are drawn again.
std::uint64_t below(std::uint64_t bound, SplitMix& random) {
  const std::uint64_t threshold = -bound % bound;
  while (true) {
    __extension__ using Product = unsigned __int128;
    const Product product = Product{random.next()} * bound;
    if (static_cast<std::uint64_t>(product) >= threshold)
      return static_cast<std::uint64_t>(product >> 64);
  }
}

}  // namespace

std::vector<std::size_t> permutation(std::size_t count, std::uint64_t seed, std::uint64_t stream) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  SplitMix random(mix(mix(seed) + stream));
  for (std::size_t left = count; left > 1; --left)
    std::swap(order[left - 1], order[below(left, random)]);
  return order;
}

}  // namespace rondo::train
