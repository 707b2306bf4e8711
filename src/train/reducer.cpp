#include <rondo/train/reducer.hpp>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "device/in_use.hpp"
#include "engine/session.hpp"
#include "train/bucket_plan.hpp"
#include "train/check_alike.hpp"
#include "train/reducer_parts.hpp"
#include "transport/keep_for_ever.hpp"

// Registering parameters and laying out buckets; the steps are in reducer_step.cpp.
namespace rondo::train {

GradientReducer::GradientReducer(Communicator& communicator, const ReducerOptions& options)
    : communicator_(communicator), options_(options) {
  if (options.collective.scale != 1.0)
    throw Error(ErrorCode::usage,
                "ReducerOptions::collective.scale belongs to the reducer, which multiplies by "
                "1/samples; leave it at 1");
  check(options.compression);
  if (!(options.clip_norm >= 0.0))  // NaN too
    throw Error(
        ErrorCode::usage,
        fmt::format("ReducerOptions::clip_norm is {}; 0 or above it must be", options.clip_norm));
}

/// Messages of a failed exchange may still be under way.
GradientReducer::~GradientReducer() {
  counting_ = {};  // waits
  for (Bucket& bucket : buckets_) bucket.request = {};
  bool has_failed = communicator_.session().has_failed();
  for (Communicator& communicator : stage_communicators_)
    has_failed |= communicator.session().has_failed();
  if (!has_failed) return;
  transport::keep_for_ever(std::move(buckets_));
  transport::keep_for_ever(std::move(total_samples_));
}

namespace {

std::size_t product_of(const std::vector<std::size_t>& shape) {
  std::size_t product = 1;
  for (const std::size_t extent : shape) product *= extent;
  return product;
}

}  // namespace

std::size_t GradientReducer::add(std::string name, std::size_t count, DataType type) {
  return add(std::move(name), std::vector<std::size_t>{count}, type);
}

std::size_t GradientReducer::add(std::string name, std::vector<std::size_t> shape, DataType type) {
  const std::size_t count = product_of(shape);
  return add_entry(
      {.name = std::move(name), .shape = std::move(shape), .count = count, .type = type});
}

namespace {

[[noreturn]] void refuse_places() {
  throw Error(ErrorCode::usage, "a reducer's gradients lie on the host, or all on one device");
}

/// The memory of a framework's gradient is read and written by the host.
void check_on_host(const std::string& name, const void* gradient) {
  device::Runtime* const devices = device::in_use();
  if (devices != nullptr && devices->locate(gradient).kind == device::MemoryKind::device)
    throw Error(ErrorCode::usage,
                fmt::format("gradient of '{}' lies on a device; register parameters there by "
                            "add_views(), or a copy of the gradient on the host",
                            name));
}

}  // namespace

std::size_t GradientReducer::add(std::string name, Buffer gradient) {
  return add(std::move(name), std::vector<std::size_t>{gradient.count}, gradient);
}

std::size_t GradientReducer::add(std::string name, std::vector<std::size_t> shape,
                                 Buffer gradient) {
  if (product_of(shape) != gradient.count)
    throw Error(ErrorCode::usage,
                fmt::format("gradient of '{}' has {} elements, and not shape [{}]", name,
                            gradient.count, fmt::join(shape, ", ")));
  if (gradient.data == nullptr && gradient.count > 0)
    throw Error(ErrorCode::usage, fmt::format("gradient of '{}' is null", name));
  check_on_host(name, gradient.data);
  return add_entry({.name = std::move(name),
                    .shape = std::move(shape),
                    .count = gradient.count,
                    .type = gradient.type,
                    .callers_memory = gradient.data});
}

template <class T>
std::size_t GradientReducer::add_views(std::span<Parameter<T>* const> parameters) {
  const std::size_t first = entries_.size();
  for (const Parameter<T>* parameter : parameters)
    if (&parameter->value().place() != &parameters.front()->value().place()) refuse_places();
  if (!parameters.empty()) set_place(parameters.front()->value().place());
  for (const Parameter<T>* parameter : parameters)
    add(parameter->name(), parameter->value().shape(), data_type_of<T>);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    Parameter<T>* const parameter = parameters[i];
    parameter->store_gradient_in({static_cast<T*>(gradient(first + i).data), parameter->size()});
    entries_[first + i].view = [parameter] { return parameter->gradient().data(); };
  }
  return first;
}

void GradientReducer::set_place(Compute& place) {
  if (&place == place_) return;
  if (!entries_.empty() || !place_->on_host()) refuse_places();
  if (options_.shard || options_.compression.kind != Compression::Kind::none)
    throw Error(ErrorCode::usage, "gradients on a device are neither sharded nor compressed");
  place_ = &place;
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

std::vector<ArrayView> GradientReducer::residuals() {
  lay_out();
  std::vector<ArrayView> views;
  for (Bucket& bucket : buckets_) bucket.reduction->add_residuals(views);
  return views;
}

std::vector<ArrayView> GradientReducer::state() {
  lay_out();
  std::vector<ArrayView> views;
  for (Bucket& bucket : buckets_) bucket.reduction->add_state(views);
  return views;
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
  return entries_[i].gradient();
}

void GradientReducer::lay_out() {
  if (laid_out_) return;
  std::vector<BucketItem> items;
  for (const Entry& entry : entries_) items.push_back({entry.bytes(), entry.type});
  const BucketLimits limits{options_.first_bucket_bytes, options_.bucket_bytes};
  for (BucketPlan& plan : plan_buckets(items, limits)) add_bucket(plan.type, std::move(plan.items));
  laid_out_ = true;
}

void GradientReducer::add_bucket(DataType type, std::vector<std::size_t> entries) {
  std::size_t bytes = 0;
  for (const std::size_t i : entries) bytes += entries_[i].bytes();
  BucketMemory memory(communicator_, *place_, bytes);
  std::byte* place = memory.data();
  std::vector<BucketPart> parts;
  for (const std::size_t i : entries) {
    Entry& entry = entries_[i];
    entry.place = place;
    entry.bucket = buckets_.size();
    entry.own = {0, entry.count};
    place += entry.bytes();
    parts.push_back({entry.name, entry.shape, entry.in_bucket()});
  }
  Bucket bucket{.type = type, .entries = std::move(entries), .memory = std::move(memory)};
  if (options_.shard) deal_out(bucket);
  bucket.reduction = options_.shard && options_.compression.kind == Compression::Kind::none
                         ? sharded_reduction(bucket.buffer(), *bucket.shards)
                         : make_bucket_reduction(options_.compression, bucket.buffer(), parts,
                                                 communicator_.size());
  buckets_.push_back(std::move(bucket));
}

void GradientReducer::check_agreement() {
  std::string text =
      fmt::format("buckets of {}, then {} bytes; clip_norm {}; on_nonfinite {}; compression {}; ",
                  options_.first_bucket_bytes, options_.bucket_bytes, options_.clip_norm,
                  static_cast<int>(options_.on_nonfinite), to_string(options_.compression));
  if (options_.shard) text += "shard; ";
  for (const Entry& entry : entries_)
    text +=
        fmt::format("{} {} [{}]; ", entry.name, name_of(entry.type), fmt::join(entry.shape, ", "));
  check_alike(communicator_, "the parameters registered", text);
  agreed_ = true;
}

template std::size_t GradientReducer::add_views(std::span<Parameter<float>* const>);
template std::size_t GradientReducer::add_views(std::span<Parameter<double>* const>);

}  // namespace rondo::train
