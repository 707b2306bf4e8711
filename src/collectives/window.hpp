#pragma once

#include <cstddef>

namespace rondo::collectives {

/// A user's buffer, of which this rank may hold only a part: element `origin` of the layout lies at
/// `data`.
struct Window {
  std::byte* data = nullptr;
  std::size_t origin = 0;

  std::byte* at(std::size_t element, std::size_t element_bytes) const {
    return data + (element - origin) * element_bytes;
  }
};

}  // namespace rondo::collectives
