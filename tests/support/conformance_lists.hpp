#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "support/conformance_case.hpp"

namespace rondo::testing {

/// The collectives that have cases: all but send and receive.
std::span<const Collective> conforming_collectives();

/// Every (algorithm, count, type, op, place) for so many ranks. The other factors (alignment, root,
/// segment, wire, scale, deterministic) are drawn from a hash, alike in every process.
std::vector<Case> full_product(Collective collective, int ranks);

/// Every pair of values of any two factors, of all collectives.
std::vector<Case> covering_cases(int ranks);

/// Those that the vendor's collectives may serve: every type, op and place, and every number of
/// elements that is unlike others.
std::vector<Case> vendor_cases(int ranks);

/// Any case, drawn from a random number.
Case random_case(std::uint64_t random, int ranks);

/// Every `stride`-th case, on average, evenly over all factors.
std::vector<Case> thin_out(const std::vector<Case>& cases, int stride);

}  // namespace rondo::testing
