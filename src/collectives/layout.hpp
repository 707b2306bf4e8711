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

  /// The same, keeping the memory.
  void set_even(std::size_t count, int blocks);
  void set_uneven(std::span<const std::size_t> counts);
  /// Every block has `block_count` elements.
  void set_uniform(std::size_t block_count, int blocks);

  int blocks() const { return static_cast<int>(offsets_.size()) - 1; }
  std::size_t count() const { return offsets_.back(); }
  std::size_t offset(int block) const { return offsets_[static_cast<std::size_t>(block)]; }
  std::size_t size(int block) const { return offset(block + 1) - offset(block); }
  /// Elements in blocks [first, first + count).
  std::size_t size(int first, int count) const { return offset(first + count) - offset(first); }

 private:
  std::vector<std::size_t> offsets_;
};

}  // namespace rondo::collectives
