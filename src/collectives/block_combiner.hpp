#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "collectives/arithmetic.hpp"
#include "collectives/executor.hpp"

namespace rondo::collectives {

/// Where a result is stored, and whether past the caches of this rank.
struct Target {
  std::byte* memory = nullptr;
  bool stream = false;
};

/// Combines inputs into several places at once, in blocks that stay in the first cache: memory is
/// read and written once.
class BlockCombiner {
 public:
  /// The `elements` at each of `inputs` become values of kind `result` at each target that has
  /// memory. A target may be one of the inputs, if its values have the same size.
  void combine(const Arithmetic& arithmetic, std::span<const void* const> inputs,
               std::span<const Target> targets, std::size_t elements,
               Value result = Value::finished);

 private:
  Workspace block_;
  std::vector<const void*> sources_;
};

}  // namespace rondo::collectives
