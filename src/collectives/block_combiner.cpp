#include "collectives/block_combiner.hpp"

#include <algorithm>
#include <cstring>

#include "core/copy.hpp"

namespace rondo::collectives {

namespace {
constexpr std::size_t kBlockBytes = std::size_t{8} * 1024;
}

void BlockCombiner::combine(const Arithmetic& arithmetic, std::span<const void* const> inputs,
                            std::span<const Target> targets, std::size_t elements, Value result) {
  const std::size_t element = arithmetic.bytes_of(Value::finished);
  const std::size_t made = arithmetic.bytes_of(result);
  std::byte* block = block_.reserve(kBlockBytes);
  const std::size_t most = kBlockBytes / made;
  for (std::size_t done = 0; done < elements; done += most) {
    const std::size_t count = std::min(most, elements - done);
    sources_.clear();
    for (const void* input : inputs)
      sources_.push_back(static_cast<const std::byte*>(input) + done * element);
    arithmetic.reduce_all(sources_, block, count, result);
    for (const Target& target : targets) {
      if (target.memory == nullptr) continue;
      std::byte* memory = target.memory + done * made;
      if (target.stream)
        core::stream_copy(block, memory, count * made);
      else
        std::memcpy(memory, block, count * made);
    }
  }
}

}  // namespace rondo::collectives
