#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <rondo/types.hpp>

#include "collectives/registry.hpp"

namespace rondo::collectives {

/// What all ranks must agree on in one operation. Plain memory: it travels as it is.
struct Signature {
  std::uint64_t sequence = 0;
  std::uint64_t count = 0;
  std::uint64_t details =
      0;  // digest of whatever else must agree (block sizes; version of the library)
  std::uint64_t segment_bytes = 0;
  double scale = 1.0;
  std::int32_t root = 0;
  Collective collective = Collective::barrier;
  ReduceOp op = ReduceOp::sum;
  DataType type = DataType::uint8;
  std::uint8_t narrow = 0;
  std::uint8_t deterministic = 0;
  std::uint8_t asynchronous = 0;     // the call doesn't wait
  std::uint8_t on_device = 0;        // the caller's memory is a device's
  std::array<char, 29> algorithm{};  // zero-terminated

  friend bool operator==(const Signature&, const Signature&) = default;
};

void set_algorithm(Signature& signature, std::string_view name);

/// Digest of all but the sequence, which operations that are alike have in common.
std::uint64_t digest_of_terms(const Signature& signature);
/// Differs where signatures differ.
std::uint64_t digest(std::uint64_t of_terms, std::uint64_t sequence);

/// "allreduce #12 of 1000 float32, sum, ring, segments of 262144 bytes"
std::string describe(const Signature& signature);

/// "count and type": the fields in which two signatures differ.
std::string differences(const Signature& a, const Signature& b);

}  // namespace rondo::collectives
