#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <rondo/communicator.hpp>

#include "collectives/registry.hpp"
#include "device/runtime.hpp"
#include "support/guarded_memory.hpp"
#include "support/reference.hpp"
#include "transport/topology.hpp"

namespace rondo::testing {

using collectives::Collective;

enum class Where : std::uint8_t { out_of_place, in_place };

/// Where buffers begin, behind a 64-byte boundary.
enum class Alignment : std::uint8_t { aligned, one_element, odd_byte };

/// Which buffers lie in memory that the ranks of a node share: the way that they take within a node
/// depends on it.
enum class Memory : std::uint8_t { ordinary, shared, shared_inputs, shared_but_on_one_rank };
inline constexpr int kMemories = 4;

/// One call of a collective, with every argument that the suite varies.
struct Case {
  Collective collective = Collective::allreduce;
  std::string_view algorithm;  // empty: the selector's choice
  DataType type = DataType::float32;
  ReduceOp op = ReduceOp::sum;
  std::size_t count = 0;  // of the message, or of a rank's block where each has one
  bool uneven = false;    // the …_v call, with blocks of very different sizes made of `count`
  Where where = Where::out_of_place;
  Alignment alignment = Alignment::aligned;
  Rank root = 0;
  std::size_t segment_bytes = 0;
  Wire wire = Wire::wide;
  double scale = 1.0;
  bool deterministic = false;
  Memory memory = Memory::ordinary;

  std::string describe() const;
  Options options() const;
};

/// True where there is an …_v call.
bool has_uneven_blocks(Collective collective);
/// True where input and output may be the same memory.
bool can_be_in_place(Collective collective);
/// True where all ranks end with the same output.
bool is_alike_on_all_ranks(Collective collective);

/// What the ranks of a communicator expect of reductions: made before they start, and shared.
class References {
 public:
  References(const transport::Topology& topology, std::span<const Case> cases);
  const Reference& of(const Case& conformance_case) const;

 private:
  std::map<Reduction, Reference> references_;
};

/// What one rank found in running cases one after another.
struct Findings {
  std::vector<std::uint64_t> digests;  // of the output of each case
  std::vector<std::string> faults;     // in words, at most kMostFaults of them
  std::set<std::string> algorithms;    // that have served

  static constexpr std::size_t kMostFaults = 10;
  /// Unless it is empty, or there are enough.
  void add(const Communicator& communicator, const Case& c, const std::string& fault);
};

/// Runs every case, checking output, input and what lies around them. With `devices`, in memory of
/// their first one. Collective.
Findings run_cases(Communicator& communicator, std::span<const Case> cases,
                   const References& references, device::Runtime* devices = nullptr);

/// The same, but most of the calls don't wait: several are pending at once, with blocking ones in
/// between, and each rank waits for them in another order.
Findings run_overlapped_cases(Communicator& communicator, std::span<const Case> cases,
                              const References& references, device::Runtime* devices = nullptr);

/// The same with calls that are ordered with streams, as are the copies of their buffers.
Findings run_cases_in_streams(Communicator& communicator, std::span<const Case> cases,
                              const References& references, device::Runtime* devices);

}  // namespace rondo::testing
