#include "engine/program_cache.hpp"

#include <utility>

namespace rondo::engine {

using collectives::Algorithm;
using collectives::Binding;
using collectives::Collective;
using collectives::Group;
using collectives::Program;
using transport::Topology;

namespace {

/// The topology as seen when `root` is called rank 0.
Topology renumbered(const Topology& topology, Rank root) {
  std::vector<int> node_of;
  for (Rank rank = 0; rank < topology.size(); ++rank)
    node_of.push_back(topology.node_of((rank + root) % topology.size()));
  return Topology(std::move(node_of));
}

}  // namespace

const Program& ProgramCache::get(const Algorithm& algorithm, Rank root, bool load_inputs,
                                 bool& is_new) {
  for (const Entry& entry : entries_)
    if (entry.algorithm == &algorithm && entry.root == root && entry.load_inputs == load_inputs) {
      is_new = false;
      return *entry.program;
    }
  const int size = topology_.size();
  const Topology seen = renumbered(topology_, root);
  const Group group{(rank_ - root + size) % size, size, &seen, (size - root) % size};
  Binding binding;
  binding.root = root;
  binding.rotate_blocks =
      algorithm.collective == Collective::gather || algorithm.collective == Collective::scatter;
  binding.load_inputs = load_inputs;
  binding.separate = algorithm.collective == Collective::all_to_all;
  auto program = std::make_unique<Program>(algorithm.plan(group), binding);
  entries_.push_back({&algorithm, root, load_inputs, std::move(program)});
  is_new = true;
  return *entries_.back().program;
}

}  // namespace rondo::engine
