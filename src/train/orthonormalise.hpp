#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace rondo::train {

/// What becomes of a row that depends on those before it.
enum class Replace { by_zeros, by_random };

/// Makes the `count` rows of a row-major matrix orthonormal by modified Gram-Schmidt. Sums are kept
/// in float64 and in a fixed order: the same bits on every machine. Rows that depend on earlier
/// ones are replaced, by_random by a row drawn from `seed` and made orthonormal too. NaNs spread.
/// T is float or double.
template <class T>
void orthonormalise(std::span<T> matrix, std::size_t count, Replace dependent,
                    std::uint64_t seed = 0);

}  // namespace rondo::train
