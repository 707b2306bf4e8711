#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include <rondo/communicator.hpp>
#include <rondo/train/array.hpp>

namespace rondo::train {

/// How far a training has come: what its consumer has used, not what a loader has fetched ahead.
struct Position {
  std::uint64_t epoch = 0;    ///< the current one, from 0
  std::uint64_t batch = 0;    ///< the next one of this epoch
  std::uint64_t step = 0;     ///< optimizer steps taken in all
  double loss_sum = 0;        ///< over this epoch's samples so far, of all ranks
  std::uint64_t samples = 0;  ///< of this epoch so far, of all ranks

  friend bool operator==(const Position&, const Position&) = default;
};

/// What must be alike for a resumed run to be the one that was interrupted: {"batch-size", "1024"}.
using Settings = std::map<std::string, std::string>;

/// Rank 0 saves position, settings and arrays (weights, optimizer state) as a safetensors file,
/// which replaces the one at `path` as a whole or not at all. Collective. On every rank throws
/// Error(system), naming the file, when that fails.
void save_checkpoint(Communicator& communicator, const std::string& path, const Position& position,
                     const Settings& settings, std::span<const ArrayView> arrays);

/// Fills `arrays` on every rank from the file that rank 0 reads, and returns its position.
/// Collective. Throws Error(system) when it cannot be read, Error(corrupt_file) when it is damaged,
/// and Error(usage) naming what differs when its settings or arrays are not those given; `arrays`
/// are then untouched.
Position load_checkpoint(Communicator& communicator, const std::string& path,
                         const Settings& settings, std::span<const ArrayView> arrays);

}  // namespace rondo::train
