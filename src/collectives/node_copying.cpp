#include "collectives/node_copying.hpp"

#include <algorithm>
#include <array>

namespace rondo::collectives {

using transport::NodeArea;

namespace {

constexpr std::size_t kLine = 64;
static_assert((transport::NodeArena::kMostRanks - 1) * kLine <= NodeArea::kStageBytes);
constexpr std::size_t kSmallestSlice =
    std::size_t{8} * 1024;  // smaller ones cost more in waits than they hide

}  // namespace

/// As large as fits, but small enough for several pieces, so that they overlap.
std::size_t NodeCopying::slice_bytes() const {
  const auto ranks = static_cast<std::size_t>(arena_.size());
  const bool reduces = collectives::reduces(operands_.shape.collective);
  const std::size_t most =
      reduces ? NodeArea::kStageBytes / std::max<std::size_t>(1, ranks - 1) : NodeArea::kStageBytes;
  const std::size_t wanted =
      std::max(kSmallestSlice, operands_.bytes(operands_.shape.count) / ranks / 2);
  return std::max(kLine, std::min(most, wanted) / kLine * kLine);
}

void NodeCopying::start(const NodeOperands& operands) {
  operands_ = operands;
  operands_.shape.slice_bytes = slice_bytes();
  slices_.set(operands_.shape);
  base_ = arena_.mine().fetched.value.load(std::memory_order_relaxed);
  staged_ = reduced_ = fetched_ = 0;
  if (!slices_.reduces()) tell(&NodeArea::staged, staged_ = slices_.pieces());
  if (!slices_.is_for(arena_.self())) tell(&NodeArea::fetched, fetched_ = slices_.pieces());
}

std::size_t NodeCopying::made() const {
  if (reduced_ == 0) return 0;
  const Slice first = slices_.of(arena_.self(), 0);
  for (std::size_t piece = reduced_; piece-- > 0;)
    if (const Slice last = slices_.of(arena_.self(), piece); last.count > 0)
      return last.begin + last.count - first.begin;
  return 0;
}

bool NodeCopying::step() {
  progressed_ = false;
  while (advance()) progressed_ = true;
  const std::size_t all = slices_.pieces();
  return staged_ == all && reduced_ == all && fetched_ == all;
}

/// Does one piece of work. The others wait for what this rank stages first of all, but what lies in
/// the stages must still be in the caches when it is read.
bool NodeCopying::advance() {
  constexpr std::size_t kAhead = 2;
  if (staged_ < reduced_ + kAhead && can_stage()) return stage(), true;
  if (can_reduce()) return reduce(), true;
  if (can_fetch()) return fetch(), true;
  if (can_stage()) return stage(), true;
  return false;
}

bool NodeCopying::can_stage() {
  return staged_ < slices_.pieces() && others_have_left(&NodeArea::reduced, staged_);
}

bool NodeCopying::can_reduce() {
  if (reduced_ == slices_.pieces() || reduced_ >= staged_) return false;
  if (slices_.of(arena_.self(), reduced_).count == 0) return true;
  if (slices_.reduces() && !others_have(&NodeArea::staged, reduced_)) return false;
  return !slices_.is_exchanged() || others_have_left(&NodeArea::fetched, reduced_);
}

bool NodeCopying::can_fetch() {
  return fetched_ < reduced_ && others_have(&NodeArea::reduced, fetched_);
}

void NodeCopying::stage() {
  for (int rank = 0; rank < arena_.size(); ++rank) {
    const Slice slice = slices_.of(rank, staged_);
    if (rank == arena_.self() || slice.count == 0) continue;
    stores_.copy(operands_.input_at(slice.begin), staged_for(rank, arena_.self(), staged_),
                 operands_.bytes(slice.count));
  }
  tell(&NodeArea::staged, ++staged_);
}

void NodeCopying::reduce() {
  const int self = arena_.self();
  const Slice slice = slices_.of(self, reduced_);
  if (slice.count > 0) {
    const bool keeps = slices_.is_for(self) || !slices_.is_exchanged();
    const std::byte* own = operands_.input_at(slice.begin);
    std::byte* const output = keeps ? operands_.output_at(slice.begin) : nullptr;
    std::byte* const result = slices_.is_exchanged() ? result_of(self, reduced_) : nullptr;
    if (slices_.reduces()) {
      sources_.clear();
      for (int rank = 0; rank < arena_.size(); ++rank)
        sources_.push_back(rank == self ? own : staged_for(self, rank, reduced_));
      const std::array targets{Target{result, stores_.stream()},
                               Target{output, operands_.streams()}};
      combiner_.combine(operands_.arithmetic, sources_, targets, slice.count, operands_.result);
    } else {
      stores_.copy(own, result, operands_.bytes(slice.count));
      if (keeps) operands_.store(own, output, slice.count);
    }
  }
  tell(&NodeArea::reduced, ++reduced_);
}

void NodeCopying::fetch() {
  for (int rank = 0; rank < arena_.size(); ++rank) {
    const Slice slice = slices_.of(rank, fetched_);
    if (rank != arena_.self() && slice.count > 0) operands_.store(result_of(rank, fetched_), slice);
  }
  tell(&NodeArea::fetched, ++fetched_);
}

/// Whether all others are through with `piece`.
bool NodeCopying::others_have(Counter counter, std::size_t piece) {
  for (int rank = 0; rank < arena_.size(); ++rank)
    if (rank != arena_.self() &&
        !arena_.has_reached((arena_.of(rank).*counter).value, base_ + piece + 1))
      return false;
  return true;
}

/// Whether all others are through with the piece whose entry `piece` is to take over.
bool NodeCopying::others_have_left(Counter counter, std::size_t piece) {
  if (base_ + piece < NodeArea::kStages) return true;
  for (int rank = 0; rank < arena_.size(); ++rank)
    if (rank != arena_.self() && !arena_.has_reached((arena_.of(rank).*counter).value,
                                                     base_ + piece + 1 - NodeArea::kStages))
      return false;
  return true;
}

void NodeCopying::tell(Counter counter, std::size_t pieces) {
  arena_.raise((arena_.mine().*counter).value, base_ + pieces);
}

std::size_t NodeCopying::entry(std::size_t piece) const {
  return static_cast<std::size_t>((base_ + piece) % NodeArea::kStages);
}

std::byte* NodeCopying::staged_for(int reader, int owner, std::size_t piece) const {
  const auto place = static_cast<std::size_t>(reader < owner ? reader : reader - 1);
  return arena_.of(owner).stages[entry(piece)].data() + place * operands_.shape.slice_bytes;
}

std::byte* NodeCopying::result_of(int owner, std::size_t piece) const {
  return arena_.of(owner).results[entry(piece)].data();
}

}  // namespace rondo::collectives
