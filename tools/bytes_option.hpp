#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace rondo::tools {

/// A number of bytes on a command line, with or without a unit. (CLI11's own validator lets a
/// negative number wrap around.)
inline CLI::Validator as_bytes() {
  const CLI::AsSizeValue size(false);
  return CLI::Validator(
      [size](std::string& text) {
        return text.starts_with('-') ? std::string("must not be negative") : size(text);
      },
      "BYTES");
}

}  // namespace rondo::tools
