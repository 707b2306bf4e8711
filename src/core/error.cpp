#include <rondo/error.hpp>

#include <fmt/core.h>

namespace rondo {

std::string_view name_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::usage:
      return "usage";
    case ErrorCode::mismatch:
      return "mismatch";
    case ErrorCode::timeout:
      return "timeout";
    case ErrorCode::peer_lost:
      return "peer_lost";
    case ErrorCode::mpi:
      return "mpi";
    case ErrorCode::cuda:
      return "cuda";
    case ErrorCode::nccl:
      return "nccl";
    case ErrorCode::system:
      return "system";
    case ErrorCode::corrupt_file:
      return "corrupt_file";
  }
  return "unknown";
}

namespace {
constexpr std::string_view kPrefix = "rondo: ";
constexpr std::string_view kSeparator = ": ";
}  // namespace

Error::Error(ErrorCode code, const std::string& message)
    : std::runtime_error(fmt::format("{}{}{}{}", kPrefix, name_of(code), kSeparator, message)),
      code_(code) {}

std::string_view Error::message() const noexcept {
  std::string_view text = what();
  text.remove_prefix(kPrefix.size() + name_of(code_).size() + kSeparator.size());
  return text;
}

}  // namespace rondo
