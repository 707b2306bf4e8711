#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collectives/plan.hpp"

namespace rondo::collectives {

/// What a plan must become before it runs on a given communicator and call.
struct Binding {
  Rank root = 0;               ///< plan rank v is rank (v + root) mod size
  bool rotate_blocks = false;  ///< so are the blocks (gather, scatter)
  bool load_inputs =
      false;  ///< partial inputs are first converted or scaled into the output's partials
  bool separate = false;  ///< input and output are never the same memory (all-to-all)
};

/// That a step waits for an earlier one, where their places overlap.
struct Dependency {
  int step;             ///< the earlier step
  bool target;          ///< it is this step's target that overlaps, else its source
  bool earlier_target;  ///< … with the earlier one's target, else its source
};

/// The steps that move bytes between this rank and one peer in one direction on one channel, in
/// order.
struct Stream {
  bool sending;
  Rank peer;
  std::uint8_t channel;
  std::vector<int> steps;
  bool reduces = false;  ///< some of what it receives is partial, and needs landing slots
};

/// A plan made executable: ranks and blocks renumbered, dependencies found, steps sorted into
/// streams. Independent of counts and types, so it is cached.
class Program {
 public:
  Program(const Plan& plan, const Binding& binding);

  int blocks() const { return blocks_; }
  const std::vector<Step>& steps() const { return steps_; }
  const std::vector<int>& scratch() const { return scratch_; }
  const std::vector<Stream>& streams() const { return streams_; }
  /// Steps that only compute, in order.
  const std::vector<int>& local_steps() const { return local_steps_; }
  std::span<const Dependency> dependencies(int step) const {
    const std::size_t begin = dependency_begin_[static_cast<std::size_t>(step)];
    const std::size_t end = dependency_begin_[static_cast<std::size_t>(step) + 1];
    return {dependencies_.data() + begin, end - begin};
  }

 private:
  void find_dependencies(bool separate);
  void sort_into_streams();

  int blocks_;
  std::vector<Step> steps_;
  std::vector<int> scratch_;
  std::vector<Stream> streams_;
  std::vector<int> local_steps_;
  std::vector<Dependency> dependencies_;
  std::vector<std::size_t> dependency_begin_;
};

/// Which places a step reads and writes.
bool reads_source(StepKind kind);
bool reads_target(StepKind kind);
bool writes_target(StepKind kind);

}  // namespace rondo::collectives
