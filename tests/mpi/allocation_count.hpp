#pragma once

#include <cstddef>

namespace rondo::testing {

/// How many times this thread has called operator new, which a program that links
/// allocation_count.cpp counts.
std::size_t allocations_of_this_thread();

}  // namespace rondo::testing
