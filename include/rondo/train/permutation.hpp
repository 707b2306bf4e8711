#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rondo::train {

/// The numbers 0 … count-1 in an order drawn from (seed, stream); the same on every machine and
/// with every standard library. `stream` may be an epoch.
///
/// A Fisher-Yates shuffle (Durstenfeld, 1964) from the last element down, fed by SplitMix64
/// (Steele, Lea & Flood, 2014) started at mix(mix(seed) + stream); a number below n is drawn
/// without bias by Lemire's method (2019).
std::vector<std::size_t> permutation(std::size_t count, std::uint64_t seed, std::uint64_t stream);

}  // namespace rondo::train
