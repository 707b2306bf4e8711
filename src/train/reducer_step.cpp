#include <algorithm>
#include <chrono>
#include <cstring>

#include <fmt/core.h>

#include <rondo/communicator.hpp>

#include "core/log.hpp"
#include "core/trace.hpp"
#include "train/all_finite.hpp"
#include "train/each.hpp"
#include "train/functions/fill.hpp"
#include "train/reducer_parts.hpp"

// What a reducer does in a step; what becomes of its result is in reducer_judge.cpp.
namespace rondo::train {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kWorthATrace = std::chrono::microseconds(1);

/// Adds the time from its construction to its destruction to `total`, in seconds, and to the
/// trace.
class Stopwatch {
 public:
  explicit Stopwatch(double& total) : total_(total) {}
  ~Stopwatch() {
    const Clock::time_point end = Clock::now();
    total_ += std::chrono::duration<double>(end - start_).count();
    if (end - start_ > kWorthATrace) core::trace({.name = "waiting", .start = start_, .end = end});
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& total_;
  Clock::time_point start_ = Clock::now();
};

/// Seconds in which one bucket at least was on its way. They are launched in order.
double covered(std::span<const BucketTimes> buckets) {
  double seconds = 0;
  double end = 0;
  for (const BucketTimes& bucket : buckets) {
    seconds += std::max(0.0, bucket.finished - std::max(bucket.launched, end));
    end = std::max(end, bucket.finished);
  }
  return seconds;
}

}  // namespace

void GradientReducer::copy(ConstBuffer from, Buffer to) {
  if (to.data != from.data) place_->copy(to.data, from.data, to.bytes());
}

void GradientReducer::fill_with_zeros(Buffer data) {
  const std::span<std::uint8_t> bytes(static_cast<std::uint8_t*>(data.data), data.bytes());
  each(*place_, Fill<std::uint8_t>{0}, bytes.size(), bytes);
}

/// Themselves, or a copy that is valid until the next.
ConstBuffer GradientReducer::on_host(ConstBuffer gradients) {
  if (place_->on_host()) return gradients;
  fetched_.resize(gradients.bytes());
  place_->copy(fetched_.data(), gradients.data, gradients.bytes());
  return {fetched_.data(), gradients.count, gradients.type};
}

void GradientReducer::accumulate(std::uint64_t local_samples) {
  if (phase_ == Phase::reducing)
    throw Error(ErrorCode::usage,
                "accumulate() between begin() and finish(); a step's last micro-batch is the one "
                "that begin() starts");
  lay_out();
  for (Entry& entry : entries_) entry.ready = false;
  local_samples_ += local_samples;
  phase_ = Phase::accumulating;
}

void GradientReducer::begin(std::uint64_t local_samples) {
  if (phase_ == Phase::reducing)
    throw Error(ErrorCode::usage, "begin() again before finish(); every step has one of each");
  lay_out();
  check_views();
  if (!agreed_) {
    check_agreement();
    split_stages();
  }
  for (Entry& entry : entries_) entry.ready = false;
  for (Bucket& bucket : buckets_) bucket.missing = bucket.entries.size();
  local_samples_ += local_samples;
  *total_samples_ = local_samples_;
  std::ranges::fill(begun_, 0);
  own_nonfinite_ = entries_.size();
  std::vector<BucketTimes> times = std::move(current_.bucket_times);  // for its memory
  times.assign(buckets_.size(), {});
  current_ = {};
  current_.bucket_times = std::move(times);
  began_ = Clock::now();
  const Buffer total(std::span(total_samples_.get(), 1));
  exchange({.input = total, .output = total}, communicator_, counting_);
  phase_ = Phase::reducing;
}

/// A parameter that moved has its gradient elsewhere.
void GradientReducer::check_views() const {
  for (const Entry& entry : entries_)
    if (entry.view && entry.view() != entry.place)
      throw Error(ErrorCode::usage,
                  fmt::format("the gradient of '{}' doesn't lie in its bucket any more; move a "
                              "model to its device before add_views()",
                              entry.name));
}

/// The first communicator is the user's. Collective.
void GradientReducer::split_stages() {
  std::size_t stages = 1;
  for (const Bucket& bucket : buckets_) stages = std::max(stages, bucket.reduction->stages());
  while (stage_communicators_.size() + 1 < stages)
    stage_communicators_.push_back(communicator_.split(0, communicator_.rank()));
  begun_.assign(stages + 1, 0);
}

void GradientReducer::ready(std::size_t i) {
  check_registered(i);
  Entry& entry = entries_[i];
  if (phase_ == Phase::idle)
    throw Error(
        ErrorCode::usage,
        fmt::format("ready() for parameter '{}' outside of begin() … finish()", entry.name));
  if (entry.ready)
    throw Error(ErrorCode::usage,
                fmt::format("ready() for parameter '{}' twice in one step; its gradient may be "
                            "under way already",
                            entry.name));
  entry.ready = true;
  if (phase_ == Phase::accumulating) return entry.accumulated.add(*place_, entry.gradient());
  copy(entry.gradient(), entry.in_bucket());
  if (!entry.accumulated.empty()) entry.accumulated.add_to(*place_, entry.in_bucket());
  mark_ready(entry);
  advance(!options_.overlap);
}

/// Its contribution lies in the bucket.
void GradientReducer::mark_ready(Entry& entry) {
  if (options_.on_nonfinite == NonFinite::stop && !all_finite(on_host(entry.in_bucket())))
    own_nonfinite_ = std::min(own_nonfinite_, static_cast<std::size_t>(&entry - entries_.data()));
  if (--buckets_[entry.bucket].missing == 0)
    current_.bucket_times[entry.bucket].ready = since_begin(Clock::now());
  std::size_t& begun = begun_.front();
  while (begun < buckets_.size() && buckets_[begun].missing == 0) {
    wait_for(counting_);
    launch(buckets_[begun++], 0);
  }
}

void GradientReducer::launch(Bucket& bucket, std::size_t stage) {
  if (*total_samples_ == 0) return;
  BucketTimes& times = times_of(bucket);
  if (stage == 0) {
    ++current_.buckets;
    current_.bytes += bucket.memory.size();
    times.launched = since_begin(Clock::now());
  }
  const double exposed_before = current_.exposed;
  const double scale = 1.0 / static_cast<double>(*total_samples_);
  exchange(bucket.reduction->begin(stage, scale),
           stage == 0 ? communicator_ : stage_communicators_[stage - 1], bucket.request);
  times.waited += current_.exposed - exposed_before;
  if (!options_.overlap) times.finished = since_begin(Clock::now());
}

void GradientReducer::exchange(const Exchange& exchange, Communicator& communicator,
                               Request& request) {
  rondo::Options options = options_.collective;
  options.scale = exchange.scale;
  if (exchange.narrow) options.wire = Wire::narrow;
  const auto& [kind, input, output, scale, narrow, counts] = exchange;
  if (!options_.overlap) {
    const Stopwatch stopwatch(current_.exposed);
    if (kind == Exchange::Kind::sum)
      communicator.allreduce(input, output, ReduceOp::sum, options);
    else if (kind == Exchange::Kind::scatter)
      communicator.reduce_scatter_v(input, output, counts, ReduceOp::sum, options);
    else if (counts.empty())
      communicator.allgather(input, output, options);
    else
      communicator.allgather_v(input, output, counts, options);
  } else if (kind == Exchange::Kind::sum) {
    request = communicator.iallreduce(input, output, ReduceOp::sum, options);
  } else if (kind == Exchange::Kind::scatter) {
    request = communicator.ireduce_scatter_v(input, output, counts, ReduceOp::sum, options);
  } else if (counts.empty()) {
    request = communicator.iallgather(input, output, options);
  } else {
    request = communicator.iallgather_v(input, output, counts, options);
  }
}

/// Takes each bucket as far as it has come: a step of all that is under way, for where no other
/// thread takes it (a request that is not over steps its whole communicator), and the next stage of
/// those whose last one is over, in order. Patiently: waits for all that are launched.
void GradientReducer::advance(bool patiently) {
  if (!counting_.test()) return;
  for (std::size_t stage = 1; stage < begun_.size(); ++stage) {
    const bool done = stage + 1 == begun_.size();
    for (std::size_t& begun = begun_[stage]; begun < begun_[stage - 1]; ++begun) {
      Bucket& bucket = buckets_[begun];
      if (!done && stage >= bucket.reduction->stages()) continue;
      if (!patiently && !bucket.request.test()) break;
      wait_for(bucket);
      if (!done)
        launch(bucket, stage);
      else if (*total_samples_ > 0)
        bucket.reduction->finish();
    }
  }
}

void GradientReducer::wait_for(Request& request) {
  const Stopwatch stopwatch(current_.exposed);
  request.wait();
}

void GradientReducer::wait_for(Bucket& bucket) {
  BucketTimes& times = times_of(bucket);
  const double exposed_before = current_.exposed;
  wait_for(bucket.request);
  times.waited += current_.exposed - exposed_before;
  if (options_.overlap) times.finished = since_begin(bucket.request.over_at());
}

BucketTimes& GradientReducer::times_of(const Bucket& bucket) {
  return current_.bucket_times[static_cast<std::size_t>(&bucket - buckets_.data())];
}

double GradientReducer::since_begin(Clock::time_point time) const {
  return std::chrono::duration<double>(time - began_).count();
}

std::uint64_t GradientReducer::finish() {
  if (phase_ != Phase::reducing) throw Error(ErrorCode::usage, "finish() without begin()");
  contribute_what_is_there();
  wait_for(counting_);  // where there are no buckets
  advance(true);
  phase_ = Phase::idle;
  local_samples_ = 0;
  if (*total_samples_ == 0)
    for (Bucket& bucket : buckets_) fill_with_zeros(bucket.buffer());
  else
    judge();
  for (const Entry& entry : entries_) copy(entry.in_bucket(), entry.gradient());
  current_.communication = current_.buckets > 0 ? covered(current_.bucket_times) : 0;
  stats_ = current_;
  core::trace({.name = "step", .start = began_, .end = Clock::now(), .bytes = current_.bytes});
  return *total_samples_;
}

void GradientReducer::contribute_what_is_there() {
  for (Entry& entry : entries_) {
    if (entry.ready) continue;
    if (!entry.accumulated.empty()) {
      entry.accumulated.move_to(*place_, entry.in_bucket());
    } else {
      fill_with_zeros(entry.in_bucket());
      if (local_samples_ > 0 && !entry.gap_reported) {
        core::log(core::LogLevel::warning,
                  fmt::format("parameter '{}' got no gradient in a step that had samples; zeros "
                              "were used (said once)",
                              entry.name));
        entry.gap_reported = true;
      }
    }
    mark_ready(entry);
  }
}

}  // namespace rondo::train
