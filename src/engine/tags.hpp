#pragma once

#include <cstdint>

#include "collectives/plan.hpp"
#include "transport/transport.hpp"

namespace rondo::engine {

/// Tags of one operation: its plan's channels first, then the agreement. Reused by the
/// operation 1,024 later.
inline constexpr int kTagsPerOperation = 32;
inline constexpr transport::Tag kAgreementChannel = collectives::kChannels;
inline constexpr transport::Tag kHeaderChannel = kAgreementChannel + 1;   // of send and receive
inline constexpr transport::Tag kMessageChannel = kAgreementChannel + 2;  // their data
inline constexpr transport::Tag kSecondPlan = kMessageChannel + 1;        // of two at once
static_assert(kSecondPlan + collectives::kChannels <= kTagsPerOperation);

/// Operations whose tags differ.
inline constexpr std::uint64_t kOperationsInFlight = (transport::kMaxTag + 1) / kTagsPerOperation;

/// Whether operation `sequence` may begin: none that has its tags is pending here. The messages of
/// two with the same tags are then sent in their order, and received in it.
inline bool tags_are_free(std::uint64_t sequence, std::uint64_t oldest_pending) {
  return sequence < oldest_pending || sequence - oldest_pending < kOperationsInFlight;
}

inline transport::Tag tag_base(std::uint64_t sequence) {
  return static_cast<transport::Tag>(sequence % kOperationsInFlight) * kTagsPerOperation;
}

}  // namespace rondo::engine
