#include "backward.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace rondo::bench {

namespace {

constexpr std::size_t kPeriod = 1021;  // a prime, so that what lies at a wrong place is wrong
constexpr float kPlaces = 16.0F;

const std::array<float, kPeriod>& pattern() {
  static const auto values = [] {
    std::array<float, kPeriod> made{};
    for (std::size_t i = 0; i < kPeriod; ++i) made[i] = static_cast<float>(i % 16);
    return made;
  }();
  return values;
}

float offset(std::size_t layer, std::uint64_t turn) {
  return kPlaces * static_cast<float>((3 * layer + turn) % 64);
}

}  // namespace

std::vector<std::size_t> ModelShape::counts() const {
  std::vector<std::size_t> counts(static_cast<std::size_t>(layers), layer_bytes / sizeof(float));
  counts.front() = counts.back() = edge_bytes / sizeof(float);
  return counts;
}

void Computation::run(std::uint64_t passes) {
  // Towards 1 from wherever it starts: neither overflow nor subnormal numbers on the way.
  constexpr float kFactor = 0.75F;
  constexpr float kSummand = 0.25F;
  for (std::uint64_t pass = 0; pass < passes; ++pass) {
    for (float& value : values_) value = value * kFactor + kSummand;
    asm volatile("" : : "r"(values_.data()) : "memory");  // each pass is done
  }
}

void write_gradient(std::span<float> gradient, std::size_t layer, std::uint64_t turn, Rank rank) {
  const float shift = offset(layer, turn) + static_cast<float>(rank);
  for (std::size_t first = 0; first < gradient.size(); first += kPeriod) {
    const std::size_t count = std::min(kPeriod, gradient.size() - first);
    for (std::size_t i = 0; i < count; ++i) gradient[first + i] = pattern()[i] + shift;
  }
}

std::size_t count_wrong(std::span<const float> gradient, std::size_t layer, std::uint64_t turn,
                        int ranks) {
  constexpr float kTolerance = 1e-5F;
  const float shift = offset(layer, turn) + static_cast<float>(ranks - 1) / 2;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    const float expected = pattern()[i % kPeriod] + shift;
    const bool right = std::abs(gradient[i] - expected) <= kTolerance * (1 + expected);
    if (!right) ++wrong;  // a NaN, too
  }
  return wrong;
}

}  // namespace rondo::bench
