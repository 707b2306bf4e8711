#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <rondo/communicator.hpp>
#include <rondo/train/reducer.hpp>

namespace rondo::core {
class OutputFile;
}

namespace rondo::train {

/// What is recorded of an epoch.
struct EpochRecord {
  std::uint64_t epoch = 0;        ///< from 1
  std::uint64_t step = 0;         ///< optimizer steps taken so far
  double loss = 0;                ///< mean over the epoch's samples
  double learning_rate = 0;       ///< of the epoch's last step
  double samples_per_second = 0;  ///< of all ranks together
  CommunicationTimes times{};     ///< of rank 0
};

/// A file of JSON lines, one object an epoch, with the keys epoch, step, loss, lr,
/// samples_per_second, communication_seconds, exposed_seconds and overlap (loss is null if it is
/// not finite). Each line is written at once, so the file
/// can be followed. Rank 0 writes; every call is collective, and throws Error(system) on every rank
/// when writing fails.
class MetricsFile {
 public:
  /// With an empty `path`, nothing is written. A run that resumes after `epochs_done` epochs keeps
  /// that many epochs' lines of an existing file, and throws Error(corrupt_file) if it holds
  /// something else; otherwise the file is begun anew.
  MetricsFile(Communicator& communicator, std::string path, std::uint64_t epochs_done = 0);
  ~MetricsFile();

  void write(const EpochRecord& record);

 private:
  Communicator& communicator_;
  std::unique_ptr<core::OutputFile> file_;  // on rank 0 only
};

}  // namespace rondo::train
