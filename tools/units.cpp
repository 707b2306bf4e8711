#include "units.hpp"

#include <array>
#include <string_view>

#include <fmt/core.h>

namespace rondo::tools {

std::string bytes_text(std::size_t bytes) {
  constexpr std::array<std::string_view, 5> kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return fmt::format("{:.4g} {}", value, kUnits[unit]);
}

std::string time_text(double seconds) {
  constexpr std::array<std::string_view, 4> kUnits{"s", "ms", "µs", "ns"};
  if (seconds == 0) return "0 s";
  std::size_t unit = 0;
  for (; seconds < 1 && unit + 1 < kUnits.size(); ++unit) seconds *= 1000;
  return fmt::format("{:.4g} {}", seconds, kUnits[unit]);
}

}  // namespace rondo::tools
