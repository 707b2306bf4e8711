#pragma once

#include <memory>
#include <vector>

#include "collectives/program.hpp"
#include "collectives/registry.hpp"
#include "transport/topology.hpp"

namespace rondo::engine {

/// The programs that a communicator has needed so far; each is made once.
class ProgramCache {
 public:
  ProgramCache(Rank rank, const transport::Topology& topology) : rank_(rank), topology_(topology) {}

  /// `is_new` tells whether it was made by this call.
  const collectives::Program& get(const collectives::Algorithm& algorithm, Rank root,
                                  bool load_inputs, bool& is_new);

 private:
  struct Entry {
    const collectives::Algorithm* algorithm;
    Rank root;
    bool load_inputs;
    std::unique_ptr<collectives::Program> program;  // at an address that stays
  };

  Rank rank_;
  const transport::Topology& topology_;
  std::vector<Entry> entries_;
};

}  // namespace rondo::engine
