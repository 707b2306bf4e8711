#pragma once

#include <cstdint>

#include <rondo/communicator.hpp>

namespace rondo::testing {

/// How long a soak lasts: the environment's TEST_SOAK_SECONDS, else 2.
double soak_seconds();

/// What its operations are drawn from: the environment's TEST_SOAK_SEED, else 1.
std::uint64_t soak_seed();

/// Random operations with random arguments on `world` and on random groups of its ranks, for so
/// many seconds; throws at the first fault, naming seed and round. Collective.
void soak(Communicator& world, std::uint64_t seed, double seconds);

}  // namespace rondo::testing
