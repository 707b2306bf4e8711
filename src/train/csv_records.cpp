#include "train/csv_records.hpp"

#include <utility>

#include <fmt/core.h>

#include <rondo/error.hpp>

namespace rondo::train {
namespace {
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
}

CsvRecords::CsvRecords(std::string_view text, std::string source)
    : text_(text), source_(std::move(source)) {
  if (text_.starts_with(kByteOrderMark)) text_.remove_prefix(kByteOrderMark.size());
}

bool CsvRecords::next(std::vector<std::string>& fields) {
  skip_blank_lines();
  fields.clear();
  line_ = next_line_;
  if (at_end()) return false;
  while (true) {
    fields.push_back(read_field());
    if (at_end() || skip_line_end()) return true;
    ++position_;  // the comma
  }
}

bool CsvRecords::skip_line_end() {
  const std::string_view rest = text_.substr(position_);
  const std::size_t length = rest.starts_with("\r\n") ? 2 : rest.starts_with('\n') ? 1 : 0;
  if (length == 0) return false;
  position_ += length;
  ++next_line_;
  return true;
}

void CsvRecords::skip_blank_lines() {
  while (skip_line_end()) {
  }
}

std::string CsvRecords::read_field() {
  if (!at_end() && text_[position_] == '"') return read_quoted_field();
  std::size_t end = text_.find_first_of(",\n\"", position_);
  if (end == std::string_view::npos) end = text_.size();
  if (end < text_.size() && text_[end] == '"')
    fail(next_line_, "a quote in the middle of a field; put the whole field in quotes");
  if (end < text_.size() && text_[end] == '\n' && end > position_ && text_[end - 1] == '\r') --end;
  const std::string_view field = text_.substr(position_, end - position_);
  position_ = end;
  return std::string(field);
}

std::string CsvRecords::read_quoted_field() {
  const std::size_t opened_on = next_line_;
  std::string field;
  ++position_;
  while (true) {
    const std::size_t quote = text_.find('"', position_);
    if (quote == std::string_view::npos) fail(opened_on, "a quote is opened and never closed");
    const std::string_view piece = text_.substr(position_, quote - position_);
    field += piece;
    for (const char c : piece) next_line_ += c == '\n';
    position_ = quote + 1;
    if (at_end() || text_[position_] != '"') break;
    field += '"';
    ++position_;
  }
  const std::string_view rest = text_.substr(position_);
  if (!rest.empty() && !rest.starts_with(',') && !rest.starts_with('\n') &&
      !rest.starts_with("\r\n"))
    fail(next_line_, "text after a closing quote; write a quote within a field twice");
  return field;
}

void CsvRecords::fail(std::size_t line, std::string_view what) const {
  throw Error(ErrorCode::corrupt_file, fmt::format("{}:{}: {}", source_, line, what));
}

}  // namespace rondo::train
