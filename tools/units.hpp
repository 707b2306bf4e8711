#pragma once

#include <cstddef>
#include <string>

namespace rondo::tools {

/// "96 B", "1.5 MiB", …
std::string bytes_text(std::size_t bytes);

/// "0 s", "0.1 ns", "12.3 µs", …
std::string time_text(double seconds);

}  // namespace rondo::tools
