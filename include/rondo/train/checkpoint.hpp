#pragma once

#include <cstddef>
#include <cstdint>
#include <future>
#include <map>
#include <string>
#include <vector>

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

/// Names and values, such as {"batch-size", "1024"}.
using Settings = std::map<std::string, std::string>;

/// What a checkpoint holds of a training beside its position: all that its next step depends on.
struct TrainingState {
  Settings settings;               ///< a resumed run must share them
  Settings notes;                  ///< kept with the rest, but not compared: {"ranks", "4"}
  std::vector<ArrayView> arrays;   ///< weights, optimizer state: alike on all ranks
  std::vector<ArrayShard> shards;  ///< dealt out among the ranks: state of a sharded optimizer
  /// Each rank's own: what hooks have left over. On as many ranks as saved them each gets its own
  /// again; on another number their sum is dealt out, as deal_out_residual() says. float32 or
  /// float64.
  std::vector<ArrayView> residuals = {};
};

/// Saves checkpoints into a folder, while training goes on.
///
/// Checkpoint n is two files, written by rank 0:
///   checkpoint-n.safetensors   the arrays
///   checkpoint-n.json          position, settings, notes, and the size and CRC-32 of the other
/// Each is written under another name, synced and renamed, the .json last: a checkpoint is there
/// as a whole or not at all, whatever happens meanwhile.
///
/// All calls are collective, but for the destructor. Not thread-safe.
class Checkpointer {
 public:
  /// Saves into `folder`, which is made if need be; of all checkpoints in it, the newest `keep` are
  /// kept. Throws Error(usage) if that is 0, Error(system) on every rank if nothing can be written
  /// there.
  Checkpointer(Communicator& communicator, std::string folder, std::size_t keep = 3);
  Checkpointer(const Checkpointer&) = delete;
  Checkpointer& operator=(const Checkpointer&) = delete;
  /// Waits for what is being saved; an error is logged.
  ~Checkpointer();

  /// Copies the state on rank 0, from where a thread saves it. Waits for the save before, and
  /// throws on every rank what that failed with, naming the file.
  void save(const Position& position, const TrainingState& state);

  /// Returns when everything is on the disk. Throws as save() does.
  void finish();

 private:
  void wait();

  Communicator& communicator_;
  std::string folder_;
  std::size_t keep_;
  std::vector<std::byte> snapshot_;  // rank 0: what the thread saves, or saved last
  std::future<void> saving_;         // rank 0; empty: nothing is under way
};

/// Throws SharedError(usage) if rank 0 finds checkpoints in `folder`, since a new training's would
/// take their places one by one; but not if it is the folder that the training was resumed from
/// (empty: none). Collective.
void check_unused(Communicator& communicator, const std::string& folder,
                  const std::string& resumed = {});

/// Fills the arrays of `state` on every rank from the newest checkpoint that rank 0 finds in
/// `folder`, and returns its position. A damaged one is passed over for the one before, with a
/// warning that names it. Collective. The number of ranks may be another than when it was saved.
///
/// Throws, on every rank and with the arrays untouched: Error(system) when there is no checkpoint,
/// or one cannot be read; Error(corrupt_file) when all are damaged; Error(usage) naming what
/// differs when its settings or arrays are not those of `state`.
Position load_checkpoint(Communicator& communicator, const std::string& folder,
                         const TrainingState& state);

}  // namespace rondo::train
