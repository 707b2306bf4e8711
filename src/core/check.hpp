#pragma once

#include <cerrno>
#include <string_view>
#include <system_error>

#include <fmt/core.h>

#include <rondo/error.hpp>

namespace rondo::core {

/// Throws Error(system): "cannot write 'model.safetensors': No space left on device", for action
/// "write" and the errno value `error`.
[[noreturn]] inline void throw_system(std::string_view action, std::string_view subject,
                                      int error) {
  throw Error(ErrorCode::system, fmt::format("cannot {} '{}': {}", action, subject,
                                             std::generic_category().message(error)));
}

/// The result of a system call, which is negative when the call failed; then throws as above.
template <class T>
T check_system(T result, std::string_view action, std::string_view subject) {
  if (result < 0) throw_system(action, subject, errno);
  return result;
}

}  // namespace rondo::core
