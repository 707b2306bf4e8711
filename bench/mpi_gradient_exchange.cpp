#include "mpi_gradient_exchange.hpp"

#include <mpi.h>

#include <charconv>
#include <limits>
#include <string_view>

#include <rondo/train/reducer.hpp>

#include "core/narrow.hpp"
#include "train/bucket_plan.hpp"

namespace rondo::bench {

namespace {

/// Gradients that follow each other in memory in the order in which backward writes them, so that
/// MPI can reduce several in one call, without packing them.
class PlainGradients : public GradientExchange {
 public:
  PlainGradients(std::string name, const ExchangeOptions& options)
      : GradientExchange(std::move(name)), starts_(options.counts.size()), counts_(options.counts) {
    std::size_t total = 0;
    for (std::size_t layer = counts_.size(); layer-- > 0; total += counts_[layer])
      starts_[layer] = total;
    memory_.resize(total);
  }

  std::span<float> gradient(std::size_t layer) override {
    return std::span(memory_).subspan(starts_[layer], counts_[layer]);
  }
  void ready(std::size_t) override {}
  void finish() override {}

 protected:
  std::span<float> all() { return memory_; }
  std::size_t layers() const { return counts_.size(); }

  static void sum(std::span<float> data) {
    MPI_Allreduce(MPI_IN_PLACE, data.data(), core::narrow<int>(data.size()), MPI_FLOAT, MPI_SUM,
                  MPI_COMM_WORLD);
  }
  static void divide(std::span<float> data) {
    int ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const float factor = 1.0F / static_cast<float>(ranks);
    for (float& value : data) value *= factor;
  }

 private:
  std::vector<std::size_t> starts_;
  std::vector<std::size_t> counts_;
  std::vector<float> memory_;
};

/// After backward, one blocking MPI_Allreduce for each parameter.
class Each final : public PlainGradients {
 public:
  using PlainGradients::PlainGradients;
  void finish() override {
    for (std::size_t layer = layers(); layer-- > 0;) {
      sum(gradient(layer));
      divide(gradient(layer));
    }
  }
};

/// After backward, one blocking MPI_Allreduce of everything.
class All final : public PlainGradients {
 public:
  using PlainGradients::PlainGradients;
  void finish() override {
    sum(all());
    divide(all());
  }
};

/// An MPI_Iallreduce for each bucket, begun when its last gradient is ready.
class Nonblocking final : public PlainGradients {
 public:
  Nonblocking(std::string name, const ExchangeOptions& options, int pieces)
      : PlainGradients(std::move(name), options), pieces_(pieces) {
    std::vector<train::BucketItem> items;
    for (const std::size_t count : options.counts)
      items.push_back({count * sizeof(float), DataType::float32});
    const train::BucketLimits limits{options.bucket_bytes, options.bucket_bytes};
    std::size_t start = 0;
    for (const train::BucketPlan& plan : train::plan_buckets(items, limits)) {
      std::size_t count = 0;
      for (const std::size_t layer : plan.items) count += options.counts[layer];
      buckets_.push_back({.last_layer = plan.items.back(), .data = all().subspan(start, count)});
      start += count;
    }
  }

  int pieces() const override { return pieces_; }
  void begin() override { requests_.clear(); }
  void ready(std::size_t layer) override {
    for (const Bucket& bucket : buckets_) {
      if (bucket.last_layer != layer) continue;
      MPI_Iallreduce(MPI_IN_PLACE, bucket.data.data(), core::narrow<int>(bucket.data.size()),
                     MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &requests_.emplace_back());
    }
  }
  void poll() override {
    int done = 0;
    MPI_Testall(core::narrow<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE);
  }
  void finish() override {
    MPI_Waitall(core::narrow<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    divide(all());
  }

 private:
  struct Bucket {
    std::size_t last_layer;
    std::span<float> data;
  };

  int pieces_;
  std::vector<Bucket> buckets_;
  std::vector<MPI_Request> requests_;
};

/// Rondo's reducer, on gradients that are views of its buckets.
class Reduced final : public GradientExchange {
 public:
  Reduced(std::string name, Communicator& world, const ExchangeOptions& options)
      : GradientExchange(std::move(name)),
        reducer_(world, {.bucket_bytes = options.bucket_bytes,
                         .first_bucket_bytes = options.bucket_bytes}) {
    for (std::size_t layer = 0; layer < options.counts.size(); ++layer)
      reducer_.add("layer " + std::to_string(layer), options.counts[layer], DataType::float32);
  }

  std::span<float> gradient(std::size_t layer) override {
    const Buffer buffer = reducer_.gradient(layer);
    return {static_cast<float*>(buffer.data), buffer.count};
  }
  void begin() override { reducer_.begin(1); }
  void ready(std::size_t layer) override { reducer_.ready(layer); }
  void finish() override { reducer_.finish(); }

 private:
  train::GradientReducer reducer_;
};

}  // namespace

std::vector<std::string> exchange_names() { return {"rondo", "each", "all", "iallreduce"}; }

int polls_per_layer(const std::string& name) {
  constexpr std::string_view kName = "iallreduce";
  constexpr int kMost = 1000;
  if (name == kName) return 1;
  if (!name.starts_with(kName) || name[kName.size()] != ':') return 0;
  const char* const end = name.data() + name.size();
  int polls = 0;
  const auto [read, error] = std::from_chars(name.data() + kName.size() + 1, end, polls);
  return error == std::errc{} && read == end && polls >= 1 && polls <= kMost ? polls : 0;
}

std::unique_ptr<GradientExchange> make_exchange(const std::string& name, Communicator& world,
                                                const ExchangeOptions& options) {
  if (name == "none") return std::make_unique<PlainGradients>(name, options);
  if (name == "rondo") return std::make_unique<Reduced>(name, world, options);
  if (name == "each") return std::make_unique<Each>(name, options);
  if (name == "all") return std::make_unique<All>(name, options);
  const int polls = polls_per_layer(name);
  return polls > 0 ? std::make_unique<Nonblocking>(name, options, polls) : nullptr;
}

}  // namespace rondo::bench
