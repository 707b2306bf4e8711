#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <rondo/shared_buffer.hpp>
#include <rondo/train/reducer.hpp>
#include <rondo/train/tensor.hpp>

#include "train/bucket_reduction.hpp"
#include "train/gradient_sum.hpp"

namespace rondo::train {

/// Zeros where the ranks of a node reach them, or on a device.
class BucketMemory {
 public:
  BucketMemory(Communicator& communicator, Compute& place, std::size_t bytes)
      : bytes_(bytes), shared_(communicator, place.on_host() ? bytes : 0) {
    if (!place.on_host())
      on_device_ = Tensor<std::uint32_t>({(bytes + sizeof(std::uint32_t) - 1) / 4}, place);
  }

  std::byte* data() {
    return on_device_.size() > 0 ? reinterpret_cast<std::byte*>(on_device_.data()) : shared_.data();
  }
  std::size_t size() const { return bytes_; }

 private:
  std::size_t bytes_;
  SharedBuffer<std::byte> shared_;
  Tensor<std::uint32_t> on_device_;
};

struct GradientReducer::Entry {
  std::string name;
  std::vector<std::size_t> shape;
  std::size_t count;
  DataType type;
  void* callers_memory = nullptr;  // of a copied-in gradient; null: the gradient lies in the bucket
  void* place = nullptr;           // in the bucket
  std::function<const void*()> view{};  // where the parameter now has its gradient; if it is a view
  std::size_t bucket = 0;
  Slice own{};  // what this rank has of it after a step
  GradientSum accumulated{};
  bool ready = false;         // in this micro-batch
  bool gap_reported = false;  // that it had no gradient once

  std::size_t bytes() const { return count * size_of(type); }
  Buffer in_bucket() const { return {place, count, type}; }
  Buffer own_in_bucket() const { return part_of(in_bucket(), own); }
  /// Where its owner writes and reads it.
  Buffer gradient() const {
    return {callers_memory != nullptr ? callers_memory : place, count, type};
  }
};

struct GradientReducer::Bucket {
  DataType type;
  std::vector<std::size_t> entries;
  BucketMemory memory;
  std::unique_ptr<BucketShards> shards{};  // null: not sharded
  std::unique_ptr<BucketReduction> reduction{};
  std::size_t missing = 0;  // entries not ready in this step
  Request request{};        // of its exchange; destroyed, and so waited for, before the memory

  Buffer buffer() { return {memory.data(), memory.size() / size_of(type), type}; }
  Buffer own() { return shards ? part_of(buffer(), shards->own) : buffer(); }
};

}  // namespace rondo::train
