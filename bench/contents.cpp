#include "contents.hpp"

#include <algorithm>
#include <cstring>

namespace rondo::bench {

namespace {

constexpr std::size_t kPeriod = 4093;  // elements; prime, so no block of 2^k is like another
constexpr std::size_t kShift = 577;    // from turn to turn
constexpr int kFiller = 0xa5;          // bytes that are no result, in any type
constexpr Rank kFactors = 7;           // so many ranks contribute a 2 to a product, or else a 1

/// A hash of (rank, place).
std::uint64_t draw(Rank rank, std::size_t place) {
  std::uint64_t x = (static_cast<std::uint64_t>(rank) << 32) + place + 1;
  x = (x ^ (x >> 30)) * 0xbf58'476d'1ce4'e5b9;
  x = (x ^ (x >> 27)) * 0x94d0'49bb'1331'11eb;
  return x ^ (x >> 31);
}

/// What a rank contributes at one place of the period.
std::uint64_t number(const Workload& work, Rank rank, std::size_t place) {
  const std::uint64_t random = draw(rank, place);
  if (!collectives::reduces(work.collective) || work.op != ReduceOp::prod) return random % 8;
  return rank < kFactors ? 1 + random % 2 : 1;
}

std::uint64_t combine(ReduceOp op, std::uint64_t a, std::uint64_t b) {
  switch (op) {
    case ReduceOp::prod:
      return a * b;
    case ReduceOp::min:
      return std::min(a, b);
    case ReduceOp::max:
      return std::max(a, b);
    default:
      return a + b;
  }
}

template <class T>
void store_as(T value, std::byte* target) {
  std::memcpy(target, &value, sizeof value);
}

/// Writes whole / divisor as one element, rounded as averages are: first in the accumulator's type.
void store(DataType type, std::uint64_t whole, int divisor, std::byte* target) {
  const float as_float = static_cast<float>(whole) / static_cast<float>(divisor);
  switch (type) {
    case DataType::int8:
    case DataType::uint8:
      return store_as(static_cast<std::uint8_t>(whole), target);
    case DataType::int32:
    case DataType::uint32:
      return store_as(static_cast<std::uint32_t>(whole), target);
    case DataType::int64:
    case DataType::uint64:
      return store_as(whole, target);
    case DataType::float16:
      return store_as(float16(as_float), target);
    case DataType::bfloat16:
      return store_as(bfloat16(as_float), target);
    case DataType::float32:
      return store_as(as_float, target);
    case DataType::float64:
      return store_as(static_cast<double>(whole) / divisor, target);
  }
}

/// visit(place in the period, elements, elements before) for each stretch of `count` elements that
/// lies within one period.
template <class Visit>
void for_each_stretch(std::uint64_t turn, std::size_t first, std::size_t count, Visit visit) {
  std::size_t place = (turn % kPeriod * kShift + first) % kPeriod;
  for (std::size_t done = 0; done < count; place = 0) {
    const std::size_t elements = std::min(kPeriod - place, count - done);
    visit(place, elements, done);
    done += elements;
  }
}

}  // namespace

Contents::Contents(const Workload& work)
    : work_(work), element_(size_of(work.type)), own_(contribution(work.rank)) {
  if (collectives::reduces(work.collective)) {
    expected_.push_back(reduction());
  } else if (work.collective == Collective::allgather) {
    for (Rank rank = 0; rank < work.ranks; ++rank) expected_.push_back(contribution(rank));
  } else {
    expected_.push_back(contribution(Workload::kRoot));
  }
}

Contents::Period Contents::contribution(Rank rank) const {
  Period period(kPeriod * element_);
  for (std::size_t i = 0; i < kPeriod; ++i)
    store(work_.type, number(work_, rank, i), 1, &period[i * element_]);
  return period;
}

Contents::Period Contents::reduction() const {
  Period period(kPeriod * element_);
  const int divisor = work_.op == ReduceOp::avg ? work_.ranks : 1;
  for (std::size_t i = 0; i < kPeriod; ++i) {
    std::uint64_t all = number(work_, 0, i);
    for (Rank rank = 1; rank < work_.ranks; ++rank)
      all = combine(work_.op, all, number(work_, rank, i));
    store(work_.type, all, divisor, &period[i * element_]);
  }
  return period;
}

void Contents::write(std::uint64_t turn, std::byte* input, std::byte* output) const {
  if (work_.output_count() > 0) std::memset(output, kFiller, work_.output_count() * element_);
  const bool root_of_broadcast =
      work_.collective == Collective::broadcast && work_.rank == Workload::kRoot;
  if (root_of_broadcast) return write_own(turn, 0, work_.count, output);
  const bool is_block = work_.collective == Collective::allgather;
  write_own(turn, is_block ? work_.nested_at() : 0, work_.input_count(), input);
}

void Contents::write_own(std::uint64_t turn, std::size_t first, std::size_t count,
                         std::byte* to) const {
  for_each_stretch(turn, first, count, [&](auto place, auto elements, auto before) {
    std::memcpy(to + before * element_, &own_[place * element_], elements * element_);
  });
}

std::size_t Contents::count_wrong(std::uint64_t turn, const std::byte* output) const {
  if (work_.collective == Collective::allgather) {
    std::size_t wrong = 0;
    for (std::size_t block = 0; block < expected_.size(); ++block) {
      const std::size_t first = block * work_.block();
      wrong += count_wrong(expected_[block], turn, first, work_.block(), output + first * element_);
    }
    return wrong;
  }
  const std::size_t first = work_.collective == Collective::reduce_scatter ? work_.nested_at() : 0;
  return count_wrong(expected_.front(), turn, first, work_.output_count(), output);
}

std::size_t Contents::count_wrong(const Period& expected, std::uint64_t turn, std::size_t first,
                                  std::size_t count, const std::byte* output) const {
  std::size_t wrong = 0;
  for_each_stretch(turn, first, count, [&](auto place, auto elements, auto before) {
    const std::byte* want = &expected[place * element_];
    const std::byte* have = output + before * element_;
    if (std::memcmp(want, have, elements * element_) == 0) return;
    for (std::size_t i = 0; i < elements * element_; i += element_)
      wrong += std::memcmp(want + i, have + i, element_) != 0 ? 1 : 0;
  });
  return wrong;
}

}  // namespace rondo::bench
