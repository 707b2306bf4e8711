#pragma once

#include <exception>
#include <list>
#include <memory>
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

/// What messages are sent from or received into. Where an exception ends its scope it is kept for
/// ever, since they may not have finished.
template <class T>
class MessageMemory {
 public:
  MessageMemory() = default;
  ~MessageMemory() {
    if (std::uncaught_exceptions() > exceptions_before_) keep_for_ever(std::move(value_));
  }
  MessageMemory(const MessageMemory&) = delete;
  MessageMemory& operator=(const MessageMemory&) = delete;

  T& operator*() { return *value_; }
  T* operator->() { return value_.get(); }

 private:
  int exceptions_before_ = std::uncaught_exceptions();
  std::unique_ptr<T> value_ = std::make_unique<T>();
};

}  // namespace rondo::transport
