#pragma once

#include <cstdint>

#include "collectives/signature.hpp"

namespace rondo::engine {

/// A call that takes several operations, one after another. Resumable; never blocks, but in
/// cancel().
class Series {
 public:
  Series() = default;
  virtual ~Series() = default;
  Series(const Series&) = delete;
  Series& operator=(const Series&) = delete;

  /// True when done. `oldest_pending` says which numbers' tags are in use elsewhere. Throws what
  /// Operation throws, and what else may go wrong.
  virtual bool step(std::uint64_t oldest_pending) = 0;
  virtual bool progressed() const = 0;
  virtual bool waits_in_memory() const = 0;
  /// Whether it has not begun: what comes before on the device isn't over.
  virtual bool waits_for_device() const { return false; }
  virtual void cancel() = 0;

  /// Number of the operation that is under way, or comes next.
  virtual std::uint64_t sequence() const = 0;
  virtual const collectives::Signature& signature() const = 0;
};

}  // namespace rondo::engine
