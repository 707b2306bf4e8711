#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <rondo/communicator.hpp>

namespace rondo::bench {

/// One way of making the layers' gradients the mean over all ranks, on one rank.
class GradientExchange {
 public:
  explicit GradientExchange(std::string name) : name_(std::move(name)) {}
  virtual ~GradientExchange() = default;

  /// As on the command line.
  const std::string& name() const { return name_; }
  /// Into how many pieces the work of a layer is cut, for a call of poll() after each.
  virtual int pieces() const { return 1; }
  /// Where the layer's gradient is to be written, and read after finish().
  virtual std::span<float> gradient(std::size_t layer) = 0;

  /// Collective, once a step, as finish().
  virtual void begin() {}
  virtual void poll() {}
  /// The layer's gradient is written. From the last layer to the first.
  virtual void ready(std::size_t layer) = 0;
  virtual void finish() = 0;

 private:
  std::string name_;
};

struct ExchangeOptions {
  std::vector<std::size_t> counts;  // elements of each layer's gradient, in forward order
  std::size_t bucket_bytes = 0;
};

/// `name` is one of exchange_names(), "none" (gradients stay as they are), or "iallreduce:K".
/// Null for another one.
std::unique_ptr<GradientExchange> make_exchange(const std::string& name, Communicator& world,
                                                const ExchangeOptions& options);
/// Of "iallreduce:K", K; of "iallreduce", 1; else, or where K is not from 1 to 1000, 0.
int polls_per_layer(const std::string& name);
/// "rondo", "each", "all", "iallreduce".
std::vector<std::string> exchange_names();

}  // namespace rondo::bench
