#pragma once

#include <cstdint>

#include "collectives/plan.hpp"
#include "transport/transport.hpp"

namespace rondo::engine {

/// Tags of one operation: its plan's channels first, then the agreement. Reused only by the
/// operation 1,024 later, when every message of the earlier one has long been received.
inline constexpr int kTagsPerOperation = 32;
inline constexpr transport::Tag kAgreementChannel = collectives::kChannels;
inline constexpr transport::Tag kHeaderChannel = kAgreementChannel + 1;   // of send and receive
inline constexpr transport::Tag kMessageChannel = kAgreementChannel + 2;  // their data
inline constexpr transport::Tag kSecondPlan = kMessageChannel + 1;        // of two at once
static_assert(kSecondPlan + collectives::kChannels <= kTagsPerOperation);

inline transport::Tag tag_base(std::uint64_t sequence) {
  constexpr std::uint64_t kOperations = (transport::kMaxTag + 1) / kTagsPerOperation;
  return static_cast<transport::Tag>(sequence % kOperations) * kTagsPerOperation;
}

}  // namespace rondo::engine
