#pragma once

#include <cstddef>
#include <span>

#include <rondo/types.hpp>

namespace rondo {

/// Memory that a collective writes: `count` elements of `type` at `data`. A null pointer is allowed
/// when count is 0.
struct Buffer {
  void* data = nullptr;
  std::size_t count = 0;
  DataType type = DataType::float32;

  Buffer() = default;
  Buffer(void* data, std::size_t count, DataType type) : data(data), count(count), type(type) {}
  template <class T>
  Buffer(std::span<T> span) : data(span.data()), count(span.size()), type(data_type_of<T>) {}

  std::size_t bytes() const { return count * size_of(type); }
};

/// Memory that a collective only reads.
struct ConstBuffer {
  const void* data = nullptr;
  std::size_t count = 0;
  DataType type = DataType::float32;

  ConstBuffer() = default;
  ConstBuffer(const void* data, std::size_t count, DataType type)
      : data(data), count(count), type(type) {}
  ConstBuffer(const Buffer& buffer) : data(buffer.data), count(buffer.count), type(buffer.type) {}
  template <class T>
  ConstBuffer(std::span<T> span) : data(span.data()), count(span.size()), type(data_type_of<T>) {}

  std::size_t bytes() const { return count * size_of(type); }
};

}  // namespace rondo
