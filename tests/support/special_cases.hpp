#pragma once

#include <ostream>
#include <span>
#include <string_view>

#include <rondo/communicator.hpp>

namespace rondo::testing {

/// Something that users of such libraries met, or may meet. Runs on any number of ranks, threads or
/// processes alike; collective. Throws when it finds a fault.
struct SpecialCase {
  std::string_view name;
  void (*run)(Communicator& world);

  /// How GoogleTest shows it.
  friend std::ostream& operator<<(std::ostream& out, const SpecialCase& special_case) {
    return out << special_case.name;
  }
};

std::span<const SpecialCase> special_cases();

}  // namespace rondo::testing
