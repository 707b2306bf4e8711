#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rondo::train {

/// The places of the `count` elements of the largest magnitude, ascending; of equal ones the first.
/// NaNs are the largest of all, then infinities, so that they are not overlooked. `elements` has at
/// least `count` and at most 2^32 elements. T is float or double.
template <class T>
void select_largest(std::span<const T> elements, std::size_t count,
                    std::span<std::uint32_t> places);

}  // namespace rondo::train
