#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <thread>

#include "device/runtime.hpp"
#include "support/host_device.hpp"

namespace rondo::testing {

/// Marks of an event: how many were asked for, and how many streams got to.
class HostEvent : public device::Event {
 public:
  bool done() override;
  void synchronize() override;

 private:
  friend class HostStream;

  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::uint64_t recorded = 0;
    std::uint64_t reached = 0;
    std::optional<Error> failure;

    void wait_for(std::uint64_t mark);
  };
  // Shared with the streams that have it in their queues.
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

/// A thread that does what it is told in order. After a failure it does nothing more, and says so.
class HostStream : public device::Stream {
 public:
  explicit HostStream(HostDevice& device);
  ~HostStream() override;

  void* handle() override { return this; }
  void copy(void* to, const void* from, std::size_t bytes) override;
  void reduce(const core::Fold& fold, std::span<const void* const> sources, void* out,
              std::size_t count) override;
  void convert(const core::Conversion& conversion, std::span<const Piece> pieces) override;
  void run(const device::Job& job) override;
  void multiply(const device::Multiplication& work) override;
  void record(device::Event& event) override;
  void wait(device::Event& event) override;
  void wait_value(const std::uint32_t* flag, std::uint32_t value) override;
  bool is_captured() override { return captured_; }
  bool idle() override;
  void synchronize() override;

  /// As if its work were recorded from now on.
  void capture(bool captured) { captured_ = captured; }

 private:
  struct Work {
    std::function<void()> body;
    bool even_after_failure = false;
  };

  void enqueue(Work work);
  void run(const std::stop_token& stop);
  void run_one(const Work& work);
  void throw_failure();  // with mutex_ held

  HostDevice& device_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Work> queue_;  // the first is under way
  std::optional<Error> failure_;
  bool captured_ = false;
  std::minstd_rand random_;
  unsigned most_microseconds_;  // that it dawdles
  std::jthread thread_;
};

/// A HostStream that goes on when this goes.
class WrappedStream : public device::Stream {
 public:
  explicit WrappedStream(HostStream& stream) : stream_(stream) {}

  void* handle() override { return &stream_; }
  void copy(void* to, const void* from, std::size_t bytes) override {
    stream_.copy(to, from, bytes);
  }
  void reduce(const core::Fold& fold, std::span<const void* const> sources, void* out,
              std::size_t count) override {
    stream_.reduce(fold, sources, out, count);
  }
  void convert(const core::Conversion& conversion, std::span<const Piece> pieces) override {
    stream_.convert(conversion, pieces);
  }
  void run(const device::Job& job) override { stream_.run(job); }
  void multiply(const device::Multiplication& work) override { stream_.multiply(work); }
  void record(device::Event& event) override { stream_.record(event); }
  void wait(device::Event& event) override { stream_.wait(event); }
  void wait_value(const std::uint32_t* flag, std::uint32_t value) override {
    stream_.wait_value(flag, value);
  }
  bool is_captured() override { return stream_.is_captured(); }
  bool idle() override { return stream_.idle(); }
  void synchronize() override { stream_.synchronize(); }

 private:
  HostStream& stream_;
};

}  // namespace rondo::testing
