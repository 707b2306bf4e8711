#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <rondo/communicator.hpp>

#include "collectives/selector.hpp"
#include "collectives/tuning.hpp"
#include "mpi_protocol.hpp"

namespace rondo::tools {

/// What rondo-tune measures.
struct TuneRange {
  std::vector<collectives::Collective> collectives;
  std::size_t min_bytes = 8;
  std::size_t max_bytes = std::size_t{64} * 1024 * 1024;
  std::size_t factor = 4;  // each size is so many times the last
  double seconds = 20;     // for all of it
};

/// What came out for one collective and size.
struct Tuned {
  collectives::Collective collective;
  std::size_t bytes;
  std::vector<collectives::Measured> ranking;  // empty: there was no time
  collectives::Measured by_constants;          // what would be chosen without a tuning file
};

/// Measures the ways that there are of doing each collective, and ranks them.
///
/// All of them get a short look; those that are far behind drop out, and the others share what time
/// there is. Small messages come first. If the time does not suffice, the largest are left out.
class Tuner {
 public:
  /// Collective over MPI_COMM_WORLD, whose communicator `world` is, as are all calls.
  Tuner(Communicator& world, TuneRange range);
  ~Tuner();

  /// Measures everything; `tell` hears of each result at once. The same on all ranks. Throws
  /// Error(mpi) if a result was wrong.
  std::vector<Tuned> run(const std::function<void(const Tuned&)>& tell);

 private:
  class Candidate;
  struct Memory;

  Tuned tune(const bench::Workload& work, double seconds);
  void admit(const collectives::Request& request);
  std::vector<collectives::Measured> measure(const bench::Workload& work,
                                             const bench::Budget& budget);
  void keep_the_promising(const Tuned& tuned);
  void rank(Tuned& tuned) const;
  double seconds_left() const;
  bool suffices(const bench::Workload& work) const;

  Communicator& world_;
  TuneRange range_;
  collectives::Placement placement_;
  std::unique_ptr<Memory> memory_;
  std::vector<std::unique_ptr<Candidate>> candidates_;
  std::unique_ptr<bench::Protocol> protocol_;
  std::chrono::steady_clock::time_point end_;
  /// What the first look at the size before took, by collective.
  std::array<double, collectives::kCollectives> last_look_{};
};

/// What a tuning file says of these results: a range for each size that was measured, half a step
/// to either side.
collectives::TuningTable table_of(const std::vector<Tuned>& tuned, std::size_t factor);

}  // namespace rondo::tools
