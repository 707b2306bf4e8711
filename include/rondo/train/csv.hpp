#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace rondo::train {

/// What to do with a row that lacks a value: an empty field, NA or NaN (any case).
enum class Missing {
  error,  ///< refuse the file, naming line and column
  drop,   ///< leave the row out
  mean,   ///< keep the row; impute() fills the gap with the mean of the training rows
};

/// One column of a Table: numbers, or categories.
struct Column {
  std::string name;
  bool categorical = false;
  std::vector<double> numbers;      ///< numeric: one a row; NaN where missing (Missing::mean)
  std::vector<int> codes;           ///< categorical: indices into levels; -1 where missing
  std::vector<std::string> levels;  ///< categorical: the different values, sorted by bytes
};

/// The contents of a CSV file: its columns, all with `rows` entries.
struct Table {
  std::string source;  ///< the file's path
  std::size_t rows = 0;
  std::vector<Column> columns;
};

struct CsvOptions {
  Missing missing = Missing::error;
  /// Names of columns to be read as categories although their values are numbers.
  std::vector<std::string> categorical;
};

/// Reads a CSV file, plain or compressed with gzip. Not collective.
///
/// Fields are separated by commas and quoted as RFC 4180 says; lines end with LF or CRLF; a byte
/// order mark and blank lines are skipped. The first record is the header. A column is numeric when
/// all of its values are numbers (decimal point, whatever the locale) and categorical when none is;
/// a mixture is refused unless `categorical` names the column. A first column without a name holds
/// row numbers, as R writes them, and is left out.
///
/// Throws Error(system) when the file cannot be read, Error(corrupt_file) with file, line, column
/// and text when its contents are not what they should be, and Error(usage) when
/// `options.categorical` names a column that is not there.
Table read_csv(const std::string& path, const CsvOptions& options = {});

}  // namespace rondo::train
