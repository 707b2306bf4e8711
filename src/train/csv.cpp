#include <rondo/train/csv.hpp>

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/core.h>

#include <rondo/error.hpp>

#include "core/narrow.hpp"
#include "train/csv_records.hpp"
#include "train/number.hpp"
#include "train/text_file.hpp"

namespace rondo::train {
namespace {

constexpr std::size_t kMostLevels = 1000;

/// A column before its kind is known.
struct RawColumn {
  std::string name;
  std::vector<std::string> fields;
};

/// The whole file as text, and where each row stood.
struct RawTable {
  std::string source;
  std::vector<RawColumn> columns;
  std::vector<std::size_t> lines;  // one a row

  [[noreturn]] void fail(std::size_t row, const RawColumn& column, std::string_view what) const {
    throw Error(ErrorCode::corrupt_file,
                fmt::format("{}:{}: column '{}': {}", source, lines[row], column.name, what));
  }
};

[[noreturn]] void fail(const std::string& source, std::size_t line, std::string_view what) {
  throw Error(ErrorCode::corrupt_file, fmt::format("{}:{}: {}", source, line, what));
}

std::vector<RawColumn> read_header(CsvRecords& records, const std::string& source) {
  std::vector<std::string> names;
  if (!records.next(names)) fail(source, 1, "the file is empty; a header line is needed");
  std::vector<RawColumn> columns;
  std::set<std::string> seen;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty() && i > 0)
      fail(source, records.line(), fmt::format("column {} has no name", i + 1));
    if (!seen.insert(names[i]).second)
      fail(source, records.line(), fmt::format("two columns are called '{}'", names[i]));
    columns.push_back({names[i], {}});
  }
  return columns;
}

/// Names the first column without a value among `fields`, if there is one.
const RawColumn* missing_column(const RawTable& table, const std::vector<std::string>& fields) {
  const auto field = std::ranges::find_if(fields, is_missing);
  return field == fields.end() ? nullptr : &table.columns[field - fields.begin()];
}

bool keep_row(const RawTable& table, const std::vector<std::string>& fields, std::size_t line,
              Missing missing) {
  const RawColumn* column = missing == Missing::mean ? nullptr : missing_column(table, fields);
  if (column == nullptr) return true;
  if (missing == Missing::error)
    fail(table.source, line,
         fmt::format("column '{}': the value is missing; choose to drop such rows or to fill in "
                     "the mean",
                     column->name));
  return false;
}

RawTable read_records(const std::string& path, Missing missing) {
  const std::string text = read_text_file(path);
  if (text.find('\0') != std::string::npos)
    throw Error(ErrorCode::corrupt_file, fmt::format("'{}' is not UTF-8 text", path));
  CsvRecords records(text, path);
  RawTable table{path, read_header(records, path), {}};
  bool any = false;
  for (std::vector<std::string> fields; records.next(fields); any = true) {
    if (fields.size() != table.columns.size())
      fail(path, records.line(),
           fmt::format("{} fields where the header has {}", fields.size(), table.columns.size()));
    if (!keep_row(table, fields, records.line(), missing)) continue;
    table.lines.push_back(records.line());
    for (std::size_t i = 0; i < fields.size(); ++i)
      table.columns[i].fields.push_back(std::move(fields[i]));
  }
  if (!any) fail(path, records.line(), "the file has a header and no rows");
  if (table.lines.empty()) fail(path, records.line(), "every row lacks a value; none is left");
  return table;
}

/// Which of a column's rows hold numbers, and which text; missing values are in neither.
struct Kinds {
  std::size_t numbers = 0;
  std::size_t texts = 0;
  std::size_t first_number = 0;
  std::size_t first_text = 0;
};

Kinds find_kinds(const RawColumn& column) {
  Kinds kinds;
  for (std::size_t row = 0; row < column.fields.size(); ++row) {
    const std::string& field = column.fields[row];
    if (is_missing(field)) continue;
    const bool number = parse_number(field).has_value();
    std::size_t& count = number ? kinds.numbers : kinds.texts;
    if (count++ == 0) (number ? kinds.first_number : kinds.first_text) = row;
  }
  return kinds;
}

/// The odd one out is whatever there is less of.
[[noreturn]] void fail_mixed(const RawTable& table, const RawColumn& column, const Kinds& kinds) {
  const bool odd_text = kinds.texts <= kinds.numbers;
  const std::size_t odd = odd_text ? kinds.first_text : kinds.first_number;
  const std::size_t usual = odd_text ? kinds.first_number : kinds.first_text;
  table.fail(odd, column,
             fmt::format("'{}' is {}, unlike '{}' on line {}{}; correct it, or declare the column "
                         "categorical",
                         column.fields[odd], odd_text ? "not a number" : "a number",
                         column.fields[usual], table.lines[usual],
                         has_decimal_comma(column.fields[odd]) ? " (write a decimal point)" : ""));
}

void read_numbers(const RawTable& table, const RawColumn& raw, Column& column) {
  column.numbers.reserve(raw.fields.size());
  for (std::size_t row = 0; row < raw.fields.size(); ++row) {
    const bool missing = is_missing(raw.fields[row]);
    const double value = missing ? std::nan("") : *parse_number(raw.fields[row]);
    if (!missing && !std::isfinite(value))
      table.fail(row, raw, fmt::format("'{}' is not a finite number", raw.fields[row]));
    column.numbers.push_back(value);
  }
}

void read_categories(const RawTable& table, const RawColumn& raw, Column& column) {
  std::set<std::string> levels;
  for (std::size_t row = 0; row < raw.fields.size(); ++row) {
    if (is_missing(raw.fields[row])) continue;
    levels.insert(raw.fields[row]);
    if (levels.size() > kMostLevels)
      table.fail(row, raw,
                 fmt::format("more than {} different texts; a column of names or identifiers must "
                             "be left out of the file",
                             kMostLevels));
  }
  column.categorical = true;
  column.levels.assign(levels.begin(), levels.end());
  column.codes.reserve(raw.fields.size());
  for (const std::string& field : raw.fields) {
    const auto level = std::ranges::lower_bound(column.levels, field);
    column.codes.push_back(is_missing(field) ? -1
                                             : core::narrow<int>(level - column.levels.begin()));
  }
}

Column interpret(const RawTable& table, const RawColumn& raw, bool declared_categorical) {
  Column column;
  column.name = raw.name;
  const Kinds kinds = find_kinds(raw);
  if (declared_categorical) {
    read_categories(table, raw, column);
  } else if (kinds.texts == 0) {
    read_numbers(table, raw, column);
  } else if (kinds.numbers > 0) {
    fail_mixed(table, raw, kinds);
  } else {
    if (has_decimal_comma(raw.fields[kinds.first_text]))
      table.fail(
          kinds.first_text, raw,
          fmt::format("'{}' has a decimal comma; write a point", raw.fields[kinds.first_text]));
    read_categories(table, raw, column);
  }
  return column;
}

void check_declared(const RawTable& table, const std::vector<std::string>& declared) {
  for (const std::string& name : declared)
    if (std::ranges::find(table.columns, name, &RawColumn::name) == table.columns.end())
      throw Error(ErrorCode::usage,
                  fmt::format("'{}' has no column '{}' to read as categories", table.source, name));
}

}  // namespace

Table read_csv(const std::string& path, const CsvOptions& options) {
  const RawTable raw = read_records(path, options.missing);
  check_declared(raw, options.categorical);
  Table table{path, raw.lines.size(), {}};
  for (const RawColumn& column : raw.columns) {
    if (column.name.empty()) continue;  // row numbers
    const bool declared = std::ranges::count(options.categorical, column.name) > 0;
    table.columns.push_back(interpret(raw, column, declared));
  }
  return table;
}

}  // namespace rondo::train
