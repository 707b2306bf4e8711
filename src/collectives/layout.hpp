#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace rondo::collectives {

/// Where each block of a message begins, in elements: block b is [offset(b), offset(b + 1)).
class Layout {
 public:
  /// `count` elements in `blocks` blocks whose sizes differ by at most one; the larger ones first.
  static Layout even(std::size_t count, int blocks);
  /// Block b has counts[b] elements.
  static Layout uneven(std::span<const std::size_t> counts);

  int blocks() const { return static_cast<int>(offsets_.size()) - 1; }
  std::size_t count() const { return offsets_.back(); }
  std::size_t offset(int block) const { return offsets_[block]; }
  std::size_t size(int block) const { return offsets_[block + 1] - offsets_[block]; }
  /// Elements in blocks [first, first + count).
  std::size_t size(int first, int count) const { return offsets_[first + count] - offsets_[first]; }

 private:
  std::vector<std::size_t> offsets_;
};

}  // namespace rondo::collectives
