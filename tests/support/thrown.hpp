#pragma once

#include <exception>
#include <ostream>
#include <string>
#include <string_view>

#include <rondo/error.hpp>

namespace rondo::testing {

/// Code and text of what a rank threw.
struct Thrown {
  ErrorCode code = ErrorCode::usage;
  std::string text = "nothing was thrown";

  bool mentions(std::string_view words) const { return text.find(words) != std::string::npos; }
  friend std::ostream& operator<<(std::ostream& stream, const Thrown& thrown) {
    return stream << thrown.text;
  }
};

inline Thrown thrown(const std::exception_ptr& error) {
  if (!error) return {};
  try {
    std::rethrow_exception(error);
  } catch (const Error& caught) {
    return {caught.code(), caught.what()};
  }
}

template <class Body>
Thrown thrown_by(Body body) {
  try {
    body();
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  return {};
}

}  // namespace rondo::testing
