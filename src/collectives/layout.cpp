#include "collectives/layout.hpp"

namespace rondo::collectives {

Layout Layout::even(std::size_t count, int blocks) {
  const auto parts = static_cast<std::size_t>(blocks);
  const std::size_t base = count / parts;
  const std::size_t larger = count % parts;
  Layout layout;
  layout.offsets_.reserve(parts + 1);
  for (std::size_t block = 0; block <= parts; ++block)
    layout.offsets_.push_back(block * base + (block < larger ? block : larger));
  return layout;
}

Layout Layout::uneven(std::span<const std::size_t> counts) {
  Layout layout;
  layout.offsets_.reserve(counts.size() + 1);
  layout.offsets_.push_back(0);
  for (const std::size_t count : counts) layout.offsets_.push_back(layout.offsets_.back() + count);
  return layout;
}

}  // namespace rondo::collectives
