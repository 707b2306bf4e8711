#include <limits>
#include <numeric>
#include <random>
#include <utility>

#include <fmt/core.h>

#include <rondo/error.hpp>
#include <rondo/train/sampler.hpp>

namespace rondo::train {
namespace {

/// From this count on, releases of PyTorch differ in the order.
constexpr std::size_t kTooMany = std::numeric_limits<std::uint32_t>::max() / 20;

}  // namespace

std::vector<std::size_t> torch_randperm(std::size_t count, std::uint64_t seed) {
  if (count >= kTooMany)
    throw Error(ErrorCode::usage,
                fmt::format("{} samples are too many for PyTorch's order, in which its releases "
                            "differ from {} on; use Sampler",
                            count, kTooMany));
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937 random(static_cast<std::uint32_t>(seed));  // PyTorch uses the lower 32 bits alone
  for (std::size_t i = 0; i + 1 < count; ++i)
    std::swap(order[i], order[i + random() % (count - i)]);
  return order;
}

DistributedSampler::DistributedSampler(const Options& options) : options_(options) {
  if (options.ranks < 1 || options.rank < 0 || options.rank >= options.ranks)
    throw Error(ErrorCode::usage, fmt::format("a sampler for rank {} of {} makes no sense",
                                              options.rank, options.ranks));
}

std::size_t DistributedSampler::size() const {
  const auto ranks = static_cast<std::size_t>(options_.ranks);
  return options_.drop_last ? options_.samples / ranks : (options_.samples + ranks - 1) / ranks;
}

std::vector<std::size_t> DistributedSampler::indices() const {
  std::vector<std::size_t> order;
  if (options_.shuffle) {
    order = torch_randperm(options_.samples, options_.seed + epoch_);
  } else {
    order.resize(options_.samples);
    std::iota(order.begin(), order.end(), std::size_t{0});
  }
  std::vector<std::size_t> mine(size());
  for (std::size_t i = 0; i < mine.size(); ++i)  // past its end, the order begins again
    mine[i] = order[(options_.rank + i * options_.ranks) % order.size()];
  return mine;
}

}  // namespace rondo::train
