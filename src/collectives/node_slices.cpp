#include "collectives/node_slices.hpp"

#include <algorithm>

namespace rondo::collectives {

namespace {

constexpr std::size_t kLine = 64;

std::size_t divide_up(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

}  // namespace

bool NodeSlices::in_blocks() const {
  return shape_.collective == Collective::reduce_scatter ||
         shape_.collective == Collective::allgather;
}

bool NodeSlices::is_for(int rank) const {
  if (shape_.collective == Collective::reduce) return rank == shape_.root;
  return is_exchanged();
}

void NodeSlices::set(const Shape& shape) {
  shape_ = shape;
  slice_elements_ = std::max<std::size_t>(1, shape.slice_bytes / shape.element_bytes);
  std::size_t longest = 0;  // of what one rank makes in all pieces
  if (in_blocks())
    for (int rank = 0; rank < shape.ranks; ++rank)
      longest = std::max(longest, shape.blocks->size(rank));
  else if (shape.collective == Collective::broadcast)
    longest = shape.count;
  else
    longest = divide_up(shape.count, static_cast<std::size_t>(shape.ranks));
  pieces_ = divide_up(longest, slice_elements_);
}

Slice NodeSlices::of(int rank, std::size_t piece) const {
  const std::size_t done = piece * slice_elements_;  // by this rank
  if (in_blocks()) {
    const std::size_t size = shape_.blocks->size(rank);
    if (done >= size) return {};
    return {shape_.blocks->offset(rank) + done, std::min(slice_elements_, size - done)};
  }
  if (shape_.collective == Collective::broadcast) {
    if (rank != shape_.root) return {};
    return {done, std::min(slice_elements_, shape_.count - done)};
  }
  const auto ranks = static_cast<std::size_t>(shape_.ranks);
  const std::size_t begin = done * ranks;
  const std::size_t end = std::min(shape_.count, begin + slice_elements_ * ranks);
  // Whole cache lines, so that no two ranks write to one.
  const std::size_t line = std::max<std::size_t>(1, kLine / shape_.element_bytes);
  const std::size_t share =
      std::min(slice_elements_, divide_up(divide_up(end - begin, ranks), line) * line);
  const std::size_t first = std::min(end, begin + static_cast<std::size_t>(rank) * share);
  return {first, std::min(share, end - first)};
}

}  // namespace rondo::collectives
