#include <rondo/train/permutation.hpp>

#include <numeric>
#include <utility>

namespace rondo::train {
namespace {

constexpr std::uint64_t kGolden = 0x9E37'79B9'7F4A'7C15;

std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58'476D'1CE4'E5B9;
  z = (z ^ (z >> 27)) * 0x94D0'49BB'1331'11EB;
  return z ^ (z >> 31);
}

/// SplitMix64: number k is mix(start + (k + 1)·golden).
class Random {
 public:
  explicit Random(std::uint64_t start) : state_(start) {}

  std::uint64_t next() { return mix(state_ += kGolden); }

  /// Uniform in [0, bound), bound > 0: the upper half of a 128-bit product. The `2^64 mod bound`
  /// lowest products of each stretch would favour some results, so they are drawn again.
  std::uint64_t below(std::uint64_t bound) {
    const std::uint64_t threshold = -bound % bound;
    while (true) {
      __extension__ using Product = unsigned __int128;
      const Product product = Product{next()} * bound;
      if (static_cast<std::uint64_t>(product) >= threshold)
        return static_cast<std::uint64_t>(product >> 64);
    }
  }

 private:
  std::uint64_t state_;
};

}  // namespace

std::vector<std::size_t> permutation(std::size_t count, std::uint64_t seed, std::uint64_t stream) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  Random random(mix(mix(seed) + stream));
  for (std::size_t left = count; left > 1; --left)
    std::swap(order[left - 1], order[random.below(left)]);
  return order;
}

}  // namespace rondo::train
