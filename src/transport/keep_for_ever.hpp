#pragma once

#include <list>
#include <mutex>
#include <utility>

namespace rondo::transport {

/// Takes over what MPI may still read or write at any time, so that it can never be freed. A leak
/// that leak checkers don't see.
template <class T>
void keep_for_ever(T value) {
  static std::mutex mutex;
  static auto& kept = *new std::list<T>;
  const std::lock_guard lock(mutex);
  kept.push_back(std::move(value));
}

}  // namespace rondo::transport
