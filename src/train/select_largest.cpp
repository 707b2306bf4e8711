#include "train/select_largest.hpp"

#include <array>
#include <bit>
#include <type_traits>

namespace rondo::train {

namespace {

/// Ordered as magnitudes are.
template <class T>
auto magnitude(T element) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  return static_cast<Bits>(std::bit_cast<Bits>(element) & (static_cast<Bits>(~Bits{0}) >> 1));
}

/// The `count`-th largest magnitude, and how many of that magnitude are among the first `count`: by
/// a histogram of the upper digit, then of the next digit of those that share it, and so on.
template <class T>
auto find_threshold(std::span<const T> elements, std::size_t count) {
  using Bits = decltype(magnitude(T{}));
  constexpr int kDigit = 11;
  constexpr int kBits = 8 * sizeof(T);
  struct {
    Bits magnitude = 0;
    std::size_t equal;
  } threshold{.equal = count};
  Bits known = 0;  // the bits of it that are found
  for (int left = kBits; left > 0;) {
    const int shift = left > kDigit ? left - kDigit : 0;
    const Bits digits = (Bits{1} << (left - shift)) - 1;
    std::array<std::size_t, std::size_t{1} << kDigit> histogram{};
    for (const T element : elements) {
      const Bits bits = magnitude(element);
      if ((bits & known) == threshold.magnitude) ++histogram[(bits >> shift) & digits];
    }
    Bits digit = digits;
    while (histogram[digit] < threshold.equal) threshold.equal -= histogram[digit--];
    threshold.magnitude |= static_cast<Bits>(digit << shift);
    known |= static_cast<Bits>(digits << shift);
    left = shift;
  }
  return threshold;
}

}  // namespace

template <class T>
void select_largest(std::span<const T> elements, std::size_t count,
                    std::span<std::uint32_t> places) {
  if (count == 0) return;
  auto threshold = find_threshold(elements, count);
  std::size_t found = 0;
  for (std::size_t i = 0; i < elements.size() && found < count; ++i) {
    const auto bits = magnitude(elements[i]);
    if (bits < threshold.magnitude) continue;
    if (bits == threshold.magnitude) {
      if (threshold.equal == 0) continue;
      --threshold.equal;
    }
    places[found++] = static_cast<std::uint32_t>(i);
  }
}

template void select_largest(std::span<const float>, std::size_t, std::span<std::uint32_t>);
template void select_largest(std::span<const double>, std::size_t, std::span<std::uint32_t>);

}  // namespace rondo::train
