#pragma once

#include <rondo/types.hpp>

#include "collectives/registry.hpp"

namespace rondo::collectives {

/// What a collective promises and allows, block by block. The root is rank 0.
class Contract {
 public:
  explicit Contract(Collective collective) : collective_(collective) {}

  /// Inputs are reduced, not only moved.
  bool reduces() const;
  /// `rank` has something in this input block.
  bool has_input(Rank rank, int block) const;
  /// `rank` ends with this output block finished. No other output block may be finished by it,
  /// since there may be no memory for it.
  bool promises(Rank rank, int block) const;
  /// Whose input, and which block of it, an output block is to hold where nothing is reduced.
  struct Origin {
    Rank rank;
    int block;
  };
  Origin origin_of(Rank rank, int block) const;
  /// Input and output are never the same memory, and their blocks differ.
  bool separate() const { return collective_ == Collective::all_to_all; }

 private:
  Collective collective_;
};

}  // namespace rondo::collectives
