#include "reduce.cuh"

namespace rondo::cuda {

// Sums and products of signed integers are those of unsigned ones.
RONDO_REDUCE_WRAPPING(uint8, std::uint8_t, uint8, std::uint8_t)
RONDO_REDUCE_WRAPPING(uint32, std::uint32_t, uint32, std::uint32_t)
RONDO_REDUCE_WRAPPING(uint64, std::uint64_t, uint64, std::uint64_t)
RONDO_REDUCE_ORDERED(int8, std::int8_t, int8, std::int8_t)
RONDO_REDUCE_ORDERED(int32, std::int32_t, int32, std::int32_t)
RONDO_REDUCE_ORDERED(int64, std::int64_t, int64, std::int64_t)
RONDO_REDUCE_ORDERED(uint8, std::uint8_t, uint8, std::uint8_t)
RONDO_REDUCE_ORDERED(uint32, std::uint32_t, uint32, std::uint32_t)
RONDO_REDUCE_ORDERED(uint64, std::uint64_t, uint64, std::uint64_t)

}  // namespace rondo::cuda
