#include "collectives/pieces.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>

namespace rondo::collectives {

namespace {

/// Who wrote each element of one memory last, and who has read it since: kept per interval.
class AccessHistory {
 public:
  AccessHistory() : intervals_{{0, {}}} {}

  void read(const Extent& extent, int piece, std::vector<int>& waits_for) {
    for_each(extent, [&](Accesses& accesses) {
      if (accesses.writer) waits_for.push_back(*accesses.writer);
      accesses.readers.push_back(piece);
    });
  }

  void write(const Extent& extent, int piece, std::vector<int>& waits_for) {
    for_each(extent, [&](Accesses& accesses) {
      if (accesses.writer) waits_for.push_back(*accesses.writer);
      waits_for.insert(waits_for.end(), accesses.readers.begin(), accesses.readers.end());
      accesses = {.writer = piece, .readers = {}};
    });
  }

 private:
  struct Accesses {
    std::optional<int> writer;
    std::vector<int> readers;
  };
  using Intervals = std::map<std::size_t, Accesses>;  // by where they begin

  template <class Visit>
  void for_each(const Extent& extent, Visit visit) {
    const auto end = split(extent.end);
    for (auto interval = split(extent.begin); interval != end; ++interval) visit(interval->second);
  }

  /// The interval that begins at `at`, which is cut off the one before if need be.
  Intervals::iterator split(std::size_t at) {
    const auto after = intervals_.upper_bound(at);
    const auto around = std::prev(after);
    if (around->first == at) return around;
    return intervals_.emplace_hint(after, at, around->second);
  }

  Intervals intervals_;
};

class Cutter {
 public:
  Cutter(const Plan& plan, const Layout& layout, const Cutting& cutting)
      : layout_(layout), scratch_(scratch_layout(plan, layout)), cutting_(cutting) {
    for (const Step& step : plan.steps()) append(step);
  }

  std::vector<Piece> take() { return std::move(pieces_); }

 private:
  void append(const Step& step) {
    const std::size_t elements = extent(step.place()).size();
    const std::size_t segment = cutting_.segment == 0 ? elements : cutting_.segment;
    for (std::size_t begin = 0; begin < elements; begin += segment)
      append(step, begin, std::min(begin + segment, elements), begin == 0);
    ++step_;
  }

  void append(const Step& step, std::size_t begin, std::size_t end, bool is_first) {
    const int index = static_cast<int>(pieces_.size());
    Piece piece{.step = step_, .source = {}, .target = {}, .waits_for = {}};
    if (step.peer < 0 && !is_first) piece.waits_for.push_back(index - 1);
    if (step.reads_source()) {
      piece.source = part(step.source, begin, end);
      history(step.source.space).read(piece.source, index, piece.waits_for);
    }
    if (step.writes_target()) {
      piece.target = part(step.target, begin, end);
      history(step.target.space).write(piece.target, index, piece.waits_for);
    }
    std::sort(piece.waits_for.begin(), piece.waits_for.end());
    const auto end_of_unique = std::unique(piece.waits_for.begin(), piece.waits_for.end());
    piece.waits_for.erase(end_of_unique, piece.waits_for.end());
    std::erase(piece.waits_for, index);  // its own source and target may be the same memory
    pieces_.push_back(std::move(piece));
  }

  Extent extent(const Place& place) const {
    const Layout& layout = place.space == Space::scratch ? scratch_ : layout_;
    return {place.space, layout.offset(place.first), layout.offset(place.first + place.count)};
  }

  Extent part(const Place& place, std::size_t begin, std::size_t end) const {
    const Extent whole = extent(place);
    return {place.space, whole.begin + begin, whole.begin + end};
  }

  AccessHistory& history(Space space) {
    if (space == Space::scratch) return histories_[2];
    return histories_[space == Space::input && cutting_.separate ? 1 : 0];
  }

  const Layout& layout_;
  Layout scratch_;
  Cutting cutting_;
  std::array<AccessHistory, 3> histories_;
  std::vector<Piece> pieces_;
  int step_ = 0;
};

}  // namespace

Layout scratch_layout(const Plan& plan, const Layout& layout) {
  std::vector<std::size_t> sizes;
  sizes.reserve(plan.scratch().size());
  for (const int like : plan.scratch()) sizes.push_back(layout.size(like));
  return Layout::uneven(sizes);
}

std::vector<Piece> cut(const Plan& plan, const Layout& layout, const Cutting& cutting) {
  return Cutter(plan, layout, cutting).take();
}

}  // namespace rondo::collectives
