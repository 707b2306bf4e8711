#include "engine/uneven_all_to_all.hpp"

#include <utility>

#include <fmt/core.h>

#include <rondo/error.hpp>

#include "engine/tags.hpp"

namespace rondo::engine {

void UnevenAllToAll::start(const Call& call, const Terms& terms, std::uint64_t sequence) {
  call_ = call;
  terms_ = terms;
  going_.assign(call.input_counts.begin(), call.input_counts.end());
  coming_.assign(going_.size(), 0);
  sequence_ = sequence;
  know_sizes_ = false;
  running_ = false;
}

bool UnevenAllToAll::step(std::uint64_t oldest_pending) {
  progressed_ = false;
  while (true) {
    if (!running_) {
      if (!tags_are_free(sequence_, oldest_pending)) return false;
      begin();
      progressed_ = true;
    }
    if (!operation_.step()) {
      progressed_ = progressed_ || operation_.progressed();
      return false;
    }
    running_ = false;
    if (know_sizes_) return true;
    compare_sizes();
    know_sizes_ = true;
    ++sequence_;
  }
}

void UnevenAllToAll::begin() {
  running_ = true;
  if (know_sizes_) return operation_.start(call_, terms_, sequence_, programs_);
  Terms of_sizes = terms_;
  of_sizes.per_call_algorithm = {};
  operation_.start({.collective = collectives::Collective::all_to_all,
                    .input = ConstBuffer(going_.data(), going_.size(), DataType::uint64),
                    .output = Buffer(coming_.data(), coming_.size(), DataType::uint64)},
                   of_sizes, sequence_, programs_);
}

void UnevenAllToAll::compare_sizes() const {
  for (std::size_t peer = 0; peer < coming_.size(); ++peer)
    if (coming_[peer] != call_.output_counts[peer])
      throw Error(
          ErrorCode::mismatch,
          fmt::format("all_to_all_v: rank {} sends {} elements to rank {}, which expects {}", peer,
                      coming_[peer], transport_.rank(), call_.output_counts[peer]));
}

void UnevenAllToAll::cancel() {
  if (std::exchange(running_, false)) operation_.cancel();
}

}  // namespace rondo::engine
