#pragma once

#include <cstddef>

#include "collectives/collective.hpp"
#include "collectives/layout.hpp"
#include "transport/topology.hpp"

namespace rondo::collectives {

/// Consecutive elements of the whole message of a collective.
struct Slice {
  std::size_t begin = 0;
  std::size_t count = 0;
};

/// How the ranks of a node share the work of a collective. The message is worked on in pieces, and
/// in each piece every rank makes one slice of the result.
///
///   all-reduce, reduce           reduce-scatter, all-gather (blocks)      broadcast
///   | 0 1 2 | 0 1 2 | 0 1 2 |    | 0 . . 0 . . | 1 . . 1 . . | 2 …        | r | r | r | r |
///     piece 0 piece 1 piece 2      0     1       0     1                   piece 0, 1, 2, 3
class NodeSlices {
 public:
  struct Shape {
    Collective collective = Collective::allreduce;
    int ranks = 1;
    Rank root = 0;
    std::size_t element_bytes = 1;
    const Layout* blocks = nullptr;  // one for each rank; of reduce-scatter and all-gather
    std::size_t count = 0;           // elements of the whole message
    std::size_t slice_bytes = 0;     // of the largest slice
  };

  void set(const Shape& shape);

  std::size_t pieces() const { return pieces_; }
  Slice of(int rank, std::size_t piece) const;

  /// Whether every rank has values that are combined, and so shows its input to the others.
  bool reduces() const { return collectives::reduces(shape_.collective); }
  /// Whether `rank` gets the slices of others.
  bool is_for(int rank) const;
  /// Whether anybody gets the slices of others.
  bool is_exchanged() const { return shape_.collective != Collective::reduce_scatter; }

 private:
  bool in_blocks() const;

  Shape shape_;
  std::size_t slice_elements_ = 1;
  std::size_t pieces_ = 0;
};

}  // namespace rondo::collectives
