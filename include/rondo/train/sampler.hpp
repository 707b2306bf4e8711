#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <rondo/types.hpp>

namespace rondo::train {

/// Which samples a rank takes in each batch of an epoch, so that N ranks train on what one would:
///
///   global batch k of B samples:  permutation[kB, (k+1)B)       (the last one may be smaller)
///   rank r of N takes of it:      every N-th, from the r-th on  (maybe none)
///
/// Every sample occurs exactly once an epoch: nothing is padded or dropped. The order depends on
/// (seed, epoch) alone. Not collective.
class Sampler {
 public:
  struct Options {
    std::size_t samples = 0;
    std::size_t batch_size = 1;  ///< of all ranks together
    std::uint64_t seed = 0;
    Rank rank = 0;
    int ranks = 1;
  };
  /// Begins with epoch 0. Throws Error(usage) when an option is out of range.
  explicit Sampler(const Options& options);

  /// Draws the order of this epoch.
  void set_epoch(std::uint64_t epoch);

  /// Batches in an epoch.
  std::size_t batches() const;
  /// Samples that all ranks together take in batch `k`.
  std::size_t global_samples(std::size_t k) const;
  /// The sample numbers, below `samples`, that this rank takes in batch `k`.
  std::vector<std::size_t> local_samples(std::size_t k) const;

 private:
  Options options_;
  std::vector<std::size_t> order_;
};

/// The order of torch.utils.data.DistributedSampler, index for index, for programs that move from
/// PyTorch and for comparisons with it. It pads (or drops) so that every rank has equally many,
/// so do not evaluate with it. Not collective.
class DistributedSampler {
 public:
  struct Options {
    std::size_t samples = 0;
    int ranks = 1;
    Rank rank = 0;
    bool shuffle = true;
    std::uint64_t seed = 0;
    bool drop_last = false;
  };
  /// Begins with epoch 0. Throws Error(usage) when an option is out of range.
  explicit DistributedSampler(const Options& options);

  void set_epoch(std::uint64_t epoch) { epoch_ = epoch; }

  /// Samples that each rank takes in an epoch.
  std::size_t size() const;
  /// The sample numbers that this rank takes in the current epoch, in order.
  std::vector<std::size_t> indices() const;

 private:
  Options options_;
  std::uint64_t epoch_ = 0;
};

/// torch.randperm(count, generator=torch.Generator().manual_seed(seed)) on the CPU. Throws
/// Error(usage) from 214,748,364 on, where releases of PyTorch differ.
std::vector<std::size_t> torch_randperm(std::size_t count, std::uint64_t seed);

}  // namespace rondo::train
