#include <rondo/train/reducer.hpp>

#include <algorithm>
#include <chrono>
#include <cstring>

#include <fmt/core.h>

#include <rondo/communicator.hpp>
#include <rondo/shared_buffer.hpp>

#include "core/log.hpp"
#include "train/bucket_plan.hpp"
#include "train/check_alike.hpp"

namespace rondo::train {

struct GradientReducer::Entry {
  std::string name;
  std::size_t count;
  DataType type;
  void* callers_memory = nullptr;  // of a copied-in gradient; null: the gradient lies in the bucket
  void* place = nullptr;           // in the bucket
  std::size_t bucket = 0;
  bool ready = false;         // in this step
  bool gap_reported = false;  // that it had no gradient once

  std::size_t bytes() const { return count * size_of(type); }
};

struct GradientReducer::Bucket {
  DataType type;
  std::vector<std::size_t> entries;
  SharedBuffer<std::byte> memory;
  std::size_t missing;  // entries not ready in this step
  Request request{};    // of its reduction; destroyed, and so waited for, before the memory

  Buffer buffer() { return {memory.data(), memory.size() / size_of(type), type}; }
};

GradientReducer::GradientReducer(Communicator& communicator, const ReducerOptions& options)
    : communicator_(communicator), options_(options) {
  if (options.collective.scale != 1.0)
    throw Error(ErrorCode::usage,
                "ReducerOptions::collective.scale belongs to the reducer, which multiplies by "
                "1/samples; leave it at 1");
}

GradientReducer::~GradientReducer() = default;

// ── Registering

std::size_t GradientReducer::add(std::string name, std::size_t count, DataType type) {
  return add_entry({.name = std::move(name), .count = count, .type = type});
}

std::size_t GradientReducer::add(std::string name, Buffer gradient) {
  if (gradient.data == nullptr && gradient.count > 0)
    throw Error(ErrorCode::usage, fmt::format("gradient of '{}' is null", name));
  return add_entry({.name = std::move(name),
                    .count = gradient.count,
                    .type = gradient.type,
                    .callers_memory = gradient.data});
}

template <class T>
std::size_t GradientReducer::add_views(std::span<Parameter<T>* const> parameters) {
  const std::size_t first = entries_.size();
  for (const Parameter<T>* parameter : parameters)
    add(parameter->name(), parameter->size(), data_type_of<T>);
  for (std::size_t i = 0; i < parameters.size(); ++i)
    parameters[i]->store_gradient_in(
        {static_cast<T*>(gradient(first + i).data), parameters[i]->size()});
  return first;
}

std::size_t GradientReducer::add_entry(Entry entry) {
  if (laid_out_)
    throw Error(ErrorCode::usage,
                fmt::format("parameter '{}' is registered too late: the buckets are already laid "
                            "out; register all parameters before the first step",
                            entry.name));
  if (!is_floating(entry.type))
    throw Error(ErrorCode::usage,
                fmt::format("gradient of '{}' is {}; a mean needs a floating type", entry.name,
                            name_of(entry.type)));
  entries_.push_back(std::move(entry));
  return entries_.size() - 1;
}

std::size_t GradientReducer::parameters() const { return entries_.size(); }

void GradientReducer::check_registered(std::size_t i) const {
  if (i >= entries_.size())
    throw Error(ErrorCode::usage,
                fmt::format("there is no parameter {}; {} are registered", i, entries_.size()));
}

Buffer GradientReducer::gradient(std::size_t i) {
  check_registered(i);
  lay_out();
  const Entry& entry = entries_[i];
  void* const memory = entry.callers_memory != nullptr ? entry.callers_memory : entry.place;
  return {memory, entry.count, entry.type};
}

void GradientReducer::lay_out() {
  if (laid_out_) return;
  std::vector<BucketItem> items;
  for (const Entry& entry : entries_) items.push_back({entry.bytes(), entry.type});
  const BucketLimits limits{options_.first_bucket_bytes, options_.bucket_bytes};
  for (BucketPlan& plan : plan_buckets(items, limits)) {
    std::size_t bytes = 0;
    for (const std::size_t i : plan.items) bytes += entries_[i].bytes();
    SharedBuffer<std::byte> memory(communicator_, bytes);
    std::byte* place = memory.data();
    for (const std::size_t i : plan.items) {
      entries_[i].place = place;
      entries_[i].bucket = buckets_.size();
      place += entries_[i].bytes();
    }
    buckets_.push_back({.type = plan.type,
                        .entries = std::move(plan.items),
                        .memory = std::move(memory),
                        .missing = 0});
  }
  laid_out_ = true;
}

// ── A step

namespace {

/// Adds the time from its construction to its destruction to `total`, in seconds.
class Stopwatch {
 public:
  explicit Stopwatch(double& total) : total_(total) {}
  ~Stopwatch() {
    total_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& total_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

void fill_with_zeros(void* memory, std::size_t bytes) {
  if (bytes > 0) std::memset(memory, 0, bytes);
}

void copy(const void* from, void* to, std::size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

}  // namespace

void GradientReducer::begin(std::uint64_t local_samples) {
  if (in_step_)
    throw Error(ErrorCode::usage, "begin() again before finish(); every step has one of each");
  lay_out();
  if (!agreed_) check_agreement();
  for (Entry& entry : entries_) entry.ready = false;
  for (Bucket& bucket : buckets_) bucket.missing = bucket.entries.size();
  local_samples_ = local_samples;
  total_samples_ = local_samples;
  launched_ = 0;
  finished_ = 0;
  current_ = {};
  sum_up(std::span(&total_samples_, 1), options_.collective, counting_);
  in_step_ = true;
}

void GradientReducer::check_agreement() {
  std::string text = fmt::format("buckets of {}, then {} bytes; ", options_.first_bucket_bytes,
                                 options_.bucket_bytes);
  for (const Entry& entry : entries_)
    text += fmt::format("{} {} [{}]; ", entry.name, name_of(entry.type), entry.count);
  check_alike(communicator_, "the parameters registered", text);
  agreed_ = true;
}

void GradientReducer::ready(std::size_t i) {
  check_registered(i);
  Entry& entry = entries_[i];
  if (!in_step_)
    throw Error(
        ErrorCode::usage,
        fmt::format("ready() for parameter '{}' outside of begin() … finish()", entry.name));
  if (entry.ready)
    throw Error(ErrorCode::usage,
                fmt::format("ready() for parameter '{}' twice in one step; its gradient may be "
                            "under way already",
                            entry.name));
  if (entry.callers_memory != nullptr) copy(entry.callers_memory, entry.place, entry.bytes());
  mark_ready(entry);
  step_all();
}

/// One step of all that is under way, for where no other thread takes it: a request that is not
/// over steps its whole communicator.
void GradientReducer::step_all() {
  if (!counting_.test()) return;
  while (finished_ < launched_ && buckets_[finished_].request.test()) ++finished_;
}

void GradientReducer::mark_ready(Entry& entry) {
  entry.ready = true;
  --buckets_[entry.bucket].missing;
  while (launched_ < buckets_.size() && buckets_[launched_].missing == 0)
    reduce(buckets_[launched_++]);
}

void GradientReducer::sum_up(Buffer data, const rondo::Options& options, Request& request) {
  if (options_.overlap) {
    request = communicator_.iallreduce(data, data, ReduceOp::sum, options);
  } else {
    const Stopwatch stopwatch(current_.seconds);
    communicator_.allreduce(data, data, ReduceOp::sum, options);
  }
}

void GradientReducer::wait_for(Request& request) {
  const Stopwatch stopwatch(current_.seconds);
  request.wait();
}

void GradientReducer::reduce(Bucket& bucket) {
  wait_for(counting_);
  if (total_samples_ == 0) return;
  const Buffer gradients = bucket.buffer();
  rondo::Options options = options_.collective;
  options.scale = 1.0 / static_cast<double>(total_samples_);
  sum_up(gradients, options, bucket.request);
  ++current_.buckets;
  current_.bytes += gradients.bytes();
}

std::uint64_t GradientReducer::finish() {
  if (!in_step_) throw Error(ErrorCode::usage, "finish() without begin()");
  contribute_zeros();
  wait_for(counting_);  // where there are no buckets
  for (Bucket& bucket : buckets_) wait_for(bucket.request);
  for (const Entry& entry : entries_) {
    if (total_samples_ == 0) fill_with_zeros(entry.place, entry.bytes());
    if (entry.callers_memory != nullptr) copy(entry.place, entry.callers_memory, entry.bytes());
  }
  in_step_ = false;
  stats_ = current_;
  return total_samples_;
}

void GradientReducer::contribute_zeros() {
  for (Entry& entry : entries_) {
    if (entry.ready) continue;
    fill_with_zeros(entry.place, entry.bytes());
    if (local_samples_ > 0 && !entry.gap_reported) {
      core::log(core::LogLevel::warning,
                fmt::format("parameter '{}' got no gradient in a step that had samples; zeros were "
                            "used (said once)",
                            entry.name));
      entry.gap_reported = true;
    }
    mark_ready(entry);
  }
}

template std::size_t GradientReducer::add_views(std::span<Parameter<float>* const>);
template std::size_t GradientReducer::add_views(std::span<Parameter<double>* const>);

}  // namespace rondo::train
