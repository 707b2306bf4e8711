#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "collectives/arithmetic.hpp"
#include "collectives/executor.hpp"
#include "collectives/layout.hpp"
#include "collectives/node_copying.hpp"
#include "collectives/program.hpp"
#include "collectives/shared_stores.hpp"
#include "transport/lane_transport.hpp"
#include "transport/node_arena.hpp"
#include "transport/shm_heap.hpp"

namespace rondo::collectives {

/// What an all-reduce over several nodes works on.
struct HierarchicalOperands {
  Arithmetic arithmetic;  // of all ranks; not narrow
  std::byte* input = nullptr;
  std::byte* output = nullptr;
  std::size_t count = 0;
  /// What a lane's ranks do on the network, rank = node.
  const Program* lane_program = nullptr;
  std::size_t segment_bytes = 0;
  /// Two programs may be under way at once.
  std::array<transport::Tag, 2> tag_bases{};
};

/// All-reduce over nodes with several ranks each:
///
///   node A, ranks 0 1 2          node B, ranks 3 4          lanes = 2: ranks {0, 3} and {1, 4}
///
///   scatter  each lane's rank combines its slice of all inputs of its node     (NodeCopying)
///   network  the ranks of a lane all-reduce their slices, chunk by chunk       (Executor)
///   collect  everyone fetches all slices from the lanes' ranks of its node; where these got no
///            memory that others can map, all slices are passed on at the end  (NodeCopying)
///
/// The three overlap: a chunk goes to the network as soon as it is combined, and is fetched as soon
/// as it is back. A node's lanes send 2(m-1)/m of the message together, m nodes: as little as one
/// rank a node would. Ranks beyond the lanes help only inside their node.
///
/// Memory: a lane's rank keeps count / lanes partial values of the largest message so far, and as
/// many results where they are of another type.
class Hierarchical {
 public:
  static constexpr int kAtOnce = 2;  // chunks on the network

  /// `lane` is this rank's, null if it is beyond the lanes.
  Hierarchical(transport::NodeArena& arena, transport::Transport* lane, int lanes);
  ~Hierarchical();
  Hierarchical(const Hierarchical&) = delete;
  Hierarchical& operator=(const Hierarchical&) = delete;

  void start(const HierarchicalOperands& operands);
  /// Never blocks. True once this rank's memory is its own again, and nobody needs its slice.
  bool step();
  bool progressed() const { return progressed_; }
  void trust_sizes() { trusts_sizes_ = true; }  // as Executor's
  void cancel();

 private:
  struct LaneMemory {
    std::byte* data = nullptr;
    std::size_t bytes = 0;
  };
  struct Flight {
    explicit Flight(transport::Transport& lane) : executor(lane) {}
    Executor executor;
    Layout layout;
  };

  bool is_in_lane() const { return arena_.self() < lanes_; }
  Slice slice_of(int lane) const;
  Slice chunk_of(int lane, std::size_t chunk) const;
  void reserve_lane_memory();
  NodeOperands node_operands(Collective collective) const;
  void start_scatter();
  void start_passing_on();
  void start_chunk(std::size_t chunk);
  void step_network();
  bool step_collect();
  bool collect(Slice chunk, int lane);
  std::shared_ptr<const std::byte> memory_of(int lane);
  bool is_private(int lane) const;
  bool step_passing_on();

  transport::NodeArena& arena_;
  int lanes_;
  HierarchicalOperands operands_;
  SharedStores stores_;
  NodeCopying scatter_;
  NodeCopying passing_on_;
  std::vector<std::size_t> block_counts_;  // a lane's slice for each of its ranks
  Layout blocks_;
  LaneMemory memory_;
  std::byte* results_ = nullptr;                  // in it
  std::vector<std::unique_ptr<Flight>> flights_;  // kAtOnce, if in a lane; at addresses that stay
  std::size_t partial_bytes_ = 0;
  std::size_t element_bytes_ = 0;
  std::size_t chunk_elements_ = 0;
  std::size_t chunks_ = 0;
  std::size_t begun_ = 0;               // chunks on or through the network
  std::size_t published_ = 0;           // chunks that the others of this node may fetch
  std::vector<std::size_t> collected_;  // chunks fetched, by lane
  std::uint64_t published_before_ = 0;
  std::uint64_t operations_ = 0;  // this one included
  bool is_passing_on_ = false;
  bool progressed_ = false;
  bool trusts_sizes_ = false;
};

}  // namespace rondo::collectives
