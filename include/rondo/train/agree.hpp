#pragma once

#include <functional>

#include <rondo/communicator.hpp>
#include <rondo/error.hpp>

namespace rondo::train {

/// An error that agree() threw on every rank alike, so that one of them may print it for all, and
/// all may end in order.
class SharedError : public Error {
 public:
  using Error::Error;
};

/// Runs `body` on this rank. If it threw on any rank, every rank throws a SharedError with the code
/// and message of the lowest such rank. Collective; `body` must not use `communicator`, since some
/// ranks may have left it by an exception.
void agree(Communicator& communicator, const std::function<void()>& body);

}  // namespace rondo::train
