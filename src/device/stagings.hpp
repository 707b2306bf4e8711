#pragma once

#include <memory>
#include <vector>

#include "device/staging.hpp"

namespace rondo::device {

/// Staging for one call at a time on each device, made when first needed.
class Stagings {
 public:
  /// Throws Error(cuda) where there is no memory.
  Staging& on(Runtime& runtime, int device, std::size_t part_bytes) {
    for (const auto& staging : all_)
      if (&staging->runtime() == &runtime && staging->device() == device) return *staging;
    return *all_.emplace_back(std::make_unique<Staging>(runtime, device, part_bytes));
  }

 private:
  std::vector<std::unique_ptr<Staging>> all_;
};

}  // namespace rondo::device
