#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collectives/placement.hpp"
#include "collectives/registry.hpp"

namespace rondo::collectives {

/// One way of doing a collective, and how long it took.
struct Measured {
  const Algorithm* algorithm = nullptr;
  std::size_t segment_bytes = 0;  // 0: it has no segments that could be chosen
  double microseconds = 0;

  friend bool operator==(const Measured&, const Measured&) = default;
};

/// Messages of more bytes than the range before, up to `up_to_bytes`.
struct MeasuredRange {
  std::size_t up_to_bytes = 0;
  std::vector<Measured> ranking;  // the first that can serve is taken

  friend bool operator==(const MeasuredRange&, const MeasuredRange&) = default;
};

/// What was measured at one placement of ranks.
class TuningTable {
 public:
  /// The range that has messages of so many bytes; null if none has.
  const MeasuredRange* find(Collective collective, std::size_t bytes) const;
  std::span<const MeasuredRange> ranges(Collective collective) const {
    return ranges_[static_cast<std::size_t>(collective)];
  }
  /// Ranges are added by size, and have algorithms of this collective.
  void add(Collective collective, MeasuredRange range);

  friend bool operator==(const TuningTable&, const TuningTable&) = default;

 private:
  std::array<std::vector<MeasuredRange>, kCollectives> ranges_;
};

/// What a tuning file holds: a table for each placement that was measured. docs/tuning.md describes
/// the file.
class Tuning {
 public:
  /// Throws Error(corrupt_file), which names `path`, when the text is no tuning file, is damaged,
  /// or is of a format or has an algorithm that this version doesn't know.
  static Tuning parse(std::string_view text, const std::string& path);
  /// Reads a file; also throws Error(system).
  static Tuning read(const std::string& path);

  /// The text that parse() reads. Equal tunings have equal texts.
  std::string text() const;
  /// Replaces the file as a whole (core::replace_file()).
  void write(const std::string& path) const;

  bool empty() const { return tables_.empty(); }
  /// Null if this placement was not measured.
  const TuningTable* find(const Placement& placement) const;
  /// In place of what was there for this placement.
  void set(const Placement& placement, TuningTable table);

  friend bool operator==(const Tuning&, const Tuning&) = default;

 private:
  std::vector<std::pair<Placement, TuningTable>> tables_;
};

}  // namespace rondo::collectives
