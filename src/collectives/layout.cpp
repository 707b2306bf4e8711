#include "collectives/layout.hpp"

#include <algorithm>

namespace rondo::collectives {

Layout Layout::even(std::size_t count, int blocks) {
  Layout layout;
  layout.set_even(count, blocks);
  return layout;
}

Layout Layout::uneven(std::span<const std::size_t> counts) {
  Layout layout;
  layout.set_uneven(counts);
  return layout;
}

void Layout::set_even(std::size_t count, int blocks) {
  const auto parts = static_cast<std::size_t>(blocks);
  const std::size_t base = count / parts;
  const std::size_t larger = count % parts;
  offsets_.clear();
  for (std::size_t block = 0; block <= parts; ++block)
    offsets_.push_back(block * base + std::min(block, larger));
}

void Layout::set_uneven(std::span<const std::size_t> counts) {
  offsets_.assign(1, 0);
  for (const std::size_t count : counts) offsets_.push_back(offsets_.back() + count);
}

void Layout::set_uniform(std::size_t block_count, int blocks) {
  offsets_.clear();
  for (std::size_t block = 0; block <= static_cast<std::size_t>(blocks); ++block)
    offsets_.push_back(block * block_count);
}

}  // namespace rondo::collectives
