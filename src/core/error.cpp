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

Error::Error(ErrorCode code, const std::string& message)
    : std::runtime_error(fmt::format("rondo: {}: {}", name_of(code), message)), code_(code) {}

}  // namespace rondo
