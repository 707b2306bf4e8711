#include "train/number.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <string>

namespace rondo::train {
namespace {

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool equal_ignoring_case(std::string_view text, std::string_view lower) {
  return std::ranges::equal(text, lower, {}, [](unsigned char c) { return std::tolower(c); });
}

}  // namespace

std::optional<double> parse_number(std::string_view text) {
  text = trim(text);
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::invalid_argument || end != text.data() + text.size()) return {};
  // Out of range may also mean too small, where zero is the nearest double but for the last bit.
  if (error == std::errc::result_out_of_range)
    return text.find("e-") != text.npos || text.find("E-") != text.npos
               ? 0.0
               : std::numeric_limits<double>::infinity();
  return value;
}

bool has_decimal_comma(std::string_view text) {
  std::string with_point(text);
  const std::size_t comma = with_point.find(',');
  if (comma == std::string::npos) return false;
  with_point[comma] = '.';
  return parse_number(with_point).has_value();
}

bool is_missing(std::string_view text) {
  text = trim(text);
  return text.empty() || equal_ignoring_case(text, "na") || equal_ignoring_case(text, "nan");
}

}  // namespace rondo::train
