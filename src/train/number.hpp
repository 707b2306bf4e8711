#pragma once

#include <optional>
#include <string_view>

namespace rondo::train {

/// The number that `text` is, blanks around it and a leading + allowed, whatever the locale; empty
/// when it is anything else. May be infinite: beyond the range of double, or spelt so.
std::optional<double> parse_number(std::string_view text);

/// True for text that would be a number with a point in place of its one comma.
bool has_decimal_comma(std::string_view text);

/// True for an empty or blank field, NA and NaN (any case).
bool is_missing(std::string_view text);

}  // namespace rondo::train
