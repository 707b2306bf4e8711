#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <rondo/shared_buffer.hpp>
#include <rondo/types.hpp>

#include "train/bucket_reduction.hpp"

// The ways to reduce a bucket of float or double; make_bucket_reduction() chooses.
namespace rondo::train {

/// What travels lies where the ranks of a node reach it.
using SharedVector = std::vector<std::byte, SharedAllocator<std::byte>>;

/// `wire` is float16 or bfloat16.
template <class T>
std::unique_ptr<BucketReduction> half_reduction(DataType wire, std::span<T> bucket);

/// `fraction` of the elements travel, rounded up.
template <class T>
std::unique_ptr<BucketReduction> topk_reduction(double fraction, std::span<T> bucket,
                                                std::span<const BucketPart> parts, int ranks);

/// Matrices travel as products of two thin ones, of powersgd_rank() columns.
template <class T>
std::unique_ptr<BucketReduction> powersgd_reduction(std::size_t rank,
                                                    std::span<const BucketPart> parts);

/// At most `rank`; 0 where the thin matrices would have no fewer elements than a tensor of this
/// shape, which is a matrix of shape[0] rows.
std::size_t powersgd_rank(std::size_t rank, std::span<const std::size_t> shape);

}  // namespace rondo::train
