#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "transport/transport.hpp"

namespace rondo::testing {

/// Counts the bytes that a rank sends in messages, through this transport and those split off it.
class CountingTransport final : public transport::Transport {
 public:
  using Count = std::atomic<std::size_t>;

  /// `sent` must outlive the transport.
  CountingTransport(std::unique_ptr<transport::Transport> real, Count& sent)
      : real_(std::move(real)), sent_(sent) {}

  Rank rank() const override { return real_->rank(); }
  int size() const override { return real_->size(); }
  const transport::Topology& topology() const override { return real_->topology(); }
  std::string name() const override { return real_->name(); }
  transport::Ticket send(Rank peer, transport::Tag tag, const void* data,
                         std::size_t bytes) override {
    sent_ += bytes;
    return real_->send(peer, tag, data, bytes);
  }
  transport::Ticket receive(Rank peer, transport::Tag tag, void* data, std::size_t bytes,
                            transport::Sizes sizes) override {
    return real_->receive(peer, tag, data, bytes, sizes);
  }
  bool test(transport::Ticket ticket) override { return real_->test(ticket); }
  void cancel(transport::Ticket ticket) override { real_->cancel(ticket); }
  void notify(Rank peer, const transport::Notice& notice) noexcept override {
    real_->notify(peer, notice);
  }
  std::optional<transport::Notice> poll_notice() override { return real_->poll_notice(); }
  std::unique_ptr<transport::Transport> split(int color, int key) override {
    auto part = real_->split(color, key);
    return part ? std::make_unique<CountingTransport>(std::move(part), sent_) : nullptr;
  }
  [[noreturn]] void abort(int status) override {
    real_->abort(status);
    std::terminate();  // not reached
  }
  bool throws_only() const override { return real_->throws_only(); }
  bool callable_from_any_thread() const override { return real_->callable_from_any_thread(); }

 private:
  std::unique_ptr<transport::Transport> real_;
  Count& sent_;
};

}  // namespace rondo::testing
