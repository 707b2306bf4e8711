#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace rondo::train {

/// Makes items ahead of their consumer, on a thread of its own: at most `depth` wait at a time.
/// next() gives them in order; what `produce` throws comes out of next() in its place. The
/// destructor waits for the item in the making, no longer. One consumer.
template <class Item>
class Prefetcher {
 public:
  /// `produce` returns the next item, or nothing at the end; it runs on the thread alone.
  explicit Prefetcher(std::function<std::optional<Item>()> produce, std::size_t depth = 2)
      : produce_(std::move(produce)), depth_(depth > 0 ? depth : 1), thread_([this] { run(); }) {}
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  ~Prefetcher() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  /// The next item; empty at the end and ever after. Blocks until it is there.
  std::optional<Item> next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !items_.empty() || ended_; });
    if (items_.empty()) {
      if (error_) std::rethrow_exception(error_);
      return {};
    }
    Item item = std::move(items_.front());
    items_.pop_front();
    changed_.notify_all();
    return item;
  }

 private:
  void run() {
    try {
      while (std::optional<Item> item = produce_())
        if (!put(std::move(*item))) return;
    } catch (...) {
      error_ = std::current_exception();  // read only after ended_ was seen under the lock
    }
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }

  /// Waits for room; false when the consumer is gone.
  bool put(Item item) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return items_.size() < depth_ || stopping_; });
    if (stopping_) return false;
    items_.push_back(std::move(item));
    changed_.notify_all();
    return true;
  }

  std::function<std::optional<Item>()> produce_;
  std::size_t depth_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> items_;
  std::exception_ptr error_;
  bool ended_ = false;
  bool stopping_ = false;
  std::thread thread_;  // the last member: it uses all others
};

}  // namespace rondo::train
