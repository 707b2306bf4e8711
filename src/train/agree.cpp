#include <rondo/train/agree.hpp>

#include <span>
#include <string>

#include <fmt/core.h>

namespace rondo::train {
namespace {

struct Failure {
  std::uint32_t code = 0;
  std::string message;
};

Failure describe(const std::exception& exception) {
  if (const auto* error = dynamic_cast<const Error*>(&exception))
    return {static_cast<std::uint32_t>(error->code()), std::string(error->message())};
  return {static_cast<std::uint32_t>(ErrorCode::system), exception.what()};
}

void broadcast(Communicator& communicator, Failure& failure, Rank root) {
  std::uint64_t header[] = {failure.code, failure.message.size()};
  communicator.broadcast(std::span<std::uint64_t>(header), root);
  failure.code = static_cast<std::uint32_t>(header[0]);
  failure.message.resize(header[1]);
  communicator.broadcast(Buffer(failure.message.data(), failure.message.size(), DataType::uint8),
                         root);
}

}  // namespace

void agree(Communicator& communicator, const std::function<void()>& body) {
  Failure failure;
  std::int32_t first_failed[] = {communicator.size()};
  try {
    body();
  } catch (const std::exception& exception) {
    failure = describe(exception);
    first_failed[0] = communicator.rank();
  }
  communicator.allreduce(std::span<std::int32_t>(first_failed), ReduceOp::min);
  const Rank failed = first_failed[0];
  if (failed == communicator.size()) return;
  broadcast(communicator, failure, failed);
  throw SharedError(
      static_cast<ErrorCode>(failure.code),
      failed == 0 ? failure.message : fmt::format("rank {}: {}", failed, failure.message));
}

}  // namespace rondo::train
