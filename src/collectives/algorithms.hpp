#pragma once

#include "collectives/plan.hpp"
#include "collectives/registry.hpp"

/// Every algorithm; the registry names them. Each shows its picture and its cost where it is
/// defined. n is the number of ranks and M the bytes of the message.
namespace rondo::collectives {

// binomial_tree.cpp
Plan binomial_tree_allreduce(const Group& group);
Plan binomial_tree_reduce(const Group& group);
Plan binomial_tree_broadcast(const Group& group);
Plan binomial_tree_gather(const Group& group);
Plan binomial_tree_scatter(const Group& group);

// bruck.cpp
Plan bruck_allgather(const Group& group);

// butterfly.cpp
Plan butterfly_allreduce(const Group& group);
Plan butterfly_reduce(const Group& group);
Plan butterfly_reduce_scatter(const Group& group);
Plan butterfly_small_allreduce(const Group& group);
Plan butterfly_small_reduce(const Group& group);
Plan butterfly_small_reduce_scatter(const Group& group);
/// Into how many blocks the butterfly cuts a message.
int butterfly_blocks(const Group& group);

// chain.cpp
Plan chain_reduce(const Group& group);
Plan chain_broadcast(const Group& group);

// direct.cpp
Plan direct_reduce_scatter(const Group& group);
Plan direct_allgather(const Group& group);
Plan direct_gather(const Group& group);
Plan direct_scatter(const Group& group);

// double_binary_tree.cpp
Plan double_binary_tree_allreduce(const Group& group);
Plan double_binary_tree_reduce(const Group& group);
Plan double_binary_tree_broadcast(const Group& group);

// halving_doubling.cpp
Plan halving_doubling_allreduce(const Group& group);

// pairwise.cpp
Plan pairwise_all_to_all(const Group& group);

// quartering_quadrupling.cpp
Plan quartering_quadrupling_allreduce(const Group& group);
/// How many ranks it works with, and into how many blocks it cuts a message.
int quartering_quadrupling_cores(const Group& group);

// recursive_doubling.cpp
Plan recursive_doubling_allreduce(const Group& group);
Plan recursive_quadrupling_allreduce(const Group& group);

// ring.cpp
Plan ring_allreduce(const Group& group);
Plan ring_reduce_scatter(const Group& group);
Plan ring_allgather(const Group& group);

// scatter_allgather.cpp
Plan scatter_allgather_broadcast(const Group& group);

}  // namespace rondo::collectives
