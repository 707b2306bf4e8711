#include <rondo/train/sampler.hpp>

#include <algorithm>

#include <fmt/core.h>

#include <rondo/error.hpp>
#include <rondo/train/permutation.hpp>

namespace rondo::train {

Sampler::Sampler(const Options& options) : options_(options) {
  if (options.batch_size == 0) throw Error(ErrorCode::usage, "the batch size must be at least 1");
  if (options.ranks < 1 || options.rank < 0 || options.rank >= options.ranks)
    throw Error(ErrorCode::usage, fmt::format("a sampler for rank {} of {} makes no sense",
                                              options.rank, options.ranks));
  set_epoch(0);
}

void Sampler::set_epoch(std::uint64_t epoch) {
  order_ = permutation(options_.samples, options_.seed, epoch);
}

std::size_t Sampler::batches() const {
  return options_.samples / options_.batch_size + (options_.samples % options_.batch_size != 0);
}

std::size_t Sampler::global_samples(std::size_t k) const {
  if (k >= batches())
    throw Error(ErrorCode::usage,
                fmt::format("batch {} of an epoch that has {} batches", k, batches()));
  return std::min(options_.batch_size, options_.samples - k * options_.batch_size);
}

std::vector<std::size_t> Sampler::local_samples(std::size_t k) const {
  const std::size_t begin = k * options_.batch_size;
  const std::size_t end = begin + global_samples(k);
  std::vector<std::size_t> samples;
  for (std::size_t i = begin + options_.rank; i < end; i += options_.ranks)
    samples.push_back(order_[i]);
  return samples;
}

}  // namespace rondo::train
