#pragma once

#include <cstdint>

namespace rondo::transport {

/// A number that two processes share exactly if they can reach each other's memory files: they run
/// on one kernel (boot id), under one host name and in one PID namespace, so that each sees the
/// other in /proc. Host names set test beds of several virtual hosts on one kernel apart.
std::uint64_t node_identity();

}  // namespace rondo::transport
