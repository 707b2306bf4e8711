#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <rondo/communicator.hpp>
#include <rondo/train/agree.hpp>

#include "core/log.hpp"
#include "train/all_finite.hpp"
#include "train/block_norm.hpp"
#include "train/reducer_parts.hpp"

// What becomes of mean gradients: all ranks hold the same bits, so they come to the same verdict
// without a word, or, where each has a part only, with one.
namespace rondo::train {

void GradientReducer::judge() {
  const bool clip = options_.clip_norm > 0.0;
  if (clip) current_.norm = norm_of_gradients();
  // Squares are not negative, so a finite sum of them has finite terms.
  if (options_.on_nonfinite != NonFinite::propagate && !(clip && std::isfinite(current_.norm)))
    judge_nonfinite();
  if (current_.skip) return;
  for (Bucket& bucket : buckets_) bucket.reduction->keep();
  if (!clip) return;
  const double factor = clip_factor(current_.norm, options_.clip_norm);
  if (factor != 1.0)
    for (Bucket& bucket : buckets_) multiply_by(*place_, bucket.own(), factor);
}

double GradientReducer::norm_of_gradients() {
  std::vector<double> sums;
  for (const Entry& entry : entries_) {
    const std::size_t first = sums.size() + entry.own.begin / kNormBlock;
    sums.resize(sums.size() + norm_blocks(entry.count));
    block_squares(on_host(entry.own_in_bucket()), sums.data() + first);
  }
  // Each block has one owner, so that this adds zeros only.
  if (options_.shard) communicator_.allreduce(std::span(sums), ReduceOp::sum);
  return norm_of(sums);
}

void GradientReducer::judge_nonfinite() {
  const auto found = std::ranges::find_if(
      entries_, [&](const Entry& entry) { return !all_finite(on_host(entry.own_in_bucket())); });
  std::uint64_t first = found - entries_.begin();
  if (options_.shard) communicator_.allreduce(std::span(&first, 1), ReduceOp::min);
  if (first == entries_.size()) return;
  const Entry* const bad = &entries_[first];
  if (options_.on_nonfinite == NonFinite::skip) {
    current_.skip = true;
    ++skipped_;
    if (std::exchange(skip_reported_, true)) return;
    if (communicator_.rank() == 0)
      core::log(core::LogLevel::warning,
                fmt::format("the gradient of parameter '{}' is not finite; the step is skipped, as "
                            "others like it will be (said once)",
                            bad->name));
    return;
  }
  // Nothing follows, so one more exchange costs nothing.
  const std::uint64_t own = own_nonfinite_;
  std::vector<std::uint64_t> all(static_cast<std::size_t>(communicator_.size()));
  communicator_.allgather(ConstBuffer(std::span(&own, 1)), Buffer(std::span(all)));
  std::vector<std::string> origins;
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    if (all[rank] < entries_.size())
      origins.push_back(fmt::format("rank {} (from '{}' on)", rank, entries_[all[rank]].name));
  throw SharedError(
      ErrorCode::usage,
      fmt::format("the gradient of parameter '{}' is not finite: {}; choose a lower learning rate, "
                  "or skip such steps",
                  bad->name,
                  origins.empty() ? std::string("every rank's own was, but not their sum")
                                  : fmt::format("it was not on {}", fmt::join(origins, ", "))));
}

}  // namespace rondo::train
