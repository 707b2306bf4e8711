#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <rondo/error.hpp>

#include "transport/transport.hpp"

namespace rondo::transport {

/// Messages among some of a transport's ranks, who are numbered anew: the ranks of one lane, one on
/// each node. It has the other's tags, and none of its notices.
class LaneTransport final : public Transport {
 public:
  /// `ranks` as `all` numbers them, this one among them; `all` must live as long as this.
  LaneTransport(Transport& all, std::vector<Rank> ranks);

  Rank rank() const override { return rank_; }
  int size() const override { return static_cast<int>(ranks_.size()); }
  const Topology& topology() const override { return topology_; }
  std::string name() const override { return all_.name(); }

  Ticket send(Rank peer, Tag tag, const void* data, std::size_t bytes) override {
    return all_.send(of(peer), tag, data, bytes);
  }
  Ticket receive(Rank peer, Tag tag, void* data, std::size_t bytes, Sizes sizes) override {
    return all_.receive(of(peer), tag, data, bytes, sizes);
  }
  bool test(Ticket ticket) override { return all_.test(ticket); }
  void cancel(Ticket ticket) override { all_.cancel(ticket); }

  void notify(Rank peer, const Notice& notice) noexcept override { all_.notify(of(peer), notice); }
  std::optional<Notice> poll_notice() override { return std::nullopt; }
  /// Lanes are not split: throws Error(usage).
  std::unique_ptr<Transport> split(int color, int key) override;
  [[noreturn]] void abort(int status) override;

 private:
  Rank of(Rank peer) const { return ranks_[static_cast<std::size_t>(peer)]; }

  Transport& all_;
  std::vector<Rank> ranks_;
  Topology topology_;
  Rank rank_ = 0;
};

}  // namespace rondo::transport
