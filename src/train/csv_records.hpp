#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rondo::train {

/// Cuts CSV text into records (RFC 4180). A quoted field may hold commas, line ends, and quotes
/// written twice.
class CsvRecords {
 public:
  /// `text` must outlive this object; `source` is what messages call it.
  CsvRecords(std::string_view text, std::string source);

  /// Reads the next record that is not blank into `fields`; false at the end. Throws
  /// Error(corrupt_file) with the line of a quote that is never closed or not at a field's edge.
  bool next(std::vector<std::string>& fields);

  /// The line, from 1, on which the last record began.
  std::size_t line() const { return line_; }

 private:
  bool at_end() const { return position_ == text_.size(); }
  bool skip_line_end();
  void skip_blank_lines();
  std::string read_field();
  std::string read_quoted_field();
  [[noreturn]] void fail(std::size_t line, std::string_view what) const;

  std::string_view text_;
  std::string source_;
  std::size_t position_ = 0;
  std::size_t line_ = 0;
  std::size_t next_line_ = 1;  // the line that position_ is on
};

}  // namespace rondo::train
