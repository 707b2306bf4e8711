#pragma once

#include "collectives/plan.hpp"
#include "collectives/registry.hpp"

/// Every algorithm; the registry names them. Each tells its picture and its cost where it is
/// defined: ring.cpp, …
namespace rondo::collectives {

// ring.cpp
Plan ring_allreduce(const Group& group);
Plan ring_reduce_scatter(const Group& group);
Plan ring_allgather(const Group& group);

// binomial_tree.cpp
Plan binomial_broadcast(const Group& group);

}  // namespace rondo::collectives
