#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <rondo/buffer.hpp>
#include <rondo/options.hpp>
#include <rondo/request.hpp>
#include <rondo/train/parameter.hpp>

namespace rondo {
class Communicator;
}

namespace rondo::train {

/// How a GradientReducer works.
struct ReducerOptions {
  std::size_t bucket_bytes = std::size_t{25} << 20;  ///< a bucket's most, but for huge parameters
  std::size_t first_bucket_bytes = std::size_t{1} << 20;  ///< likewise, of the first to be ready
  bool overlap = true;  ///< buckets travel while backward goes on; false: each ready() that
                        ///< completes one waits for it
  rondo::Options collective =
      {};  ///< for each all-reduce; `scale` is the reducer's own and must be 1
};

/// What a step's reduction was.
struct ReducerStats {
  std::size_t buckets = 0;  ///< all-reduces of gradients
  std::size_t bytes = 0;    ///< of gradients
  double seconds = 0.0;     ///< that this rank's computing stood still for communication
};

/// Makes gradients the mean over the samples of all ranks, a bucket of parameters at a time, while
/// backward still works on the rest.
///
///   const auto weight = reducer.add("weight", count, DataType::float32);  // in forward order
///   …                                           // write to reducer.gradient(weight), or use own
///   reducer.begin(local_samples);               // before the forward pass
///   …; reducer.ready(weight); …                 // when its gradient, a sum over local samples, is
///   done const auto samples = reducer.finish();      // gradients are means; samples of all ranks
///
/// Buckets are filled in reverse order of registration, since backward runs that way; each holds
/// one type. They are reduced in that fixed order, whatever the order in which parameters become
/// ready here or elsewhere. Each gradient is multiplied by 1/samples in its accumulator type before
/// it is added or rounded. A bucket holds its parameters without gaps.
///
/// A parameter that is not ready by finish() contributes zeros, on this rank; if this rank has
/// samples, a warning names it, once. A rank without samples may go straight from begin(0) to
/// finish(). When no rank has samples, nothing is reduced and all gradients are zeros.
///
/// Collective, in this order, on all ranks: begin, finish. Parameters are registered alike on all
/// ranks, in the same order (the first begin() checks, and throws Error(mismatch) naming the ranks
/// that differ from rank 0). Not thread-safe. Nothing waits for other ranks but finish(), and the
/// ready() that completes the first bucket, where the number of samples isn't known by then.
/// Without a progress thread (RONDO_PROGRESS=poll), ready() is what keeps buckets moving.
class GradientReducer {
 public:
  /// `communicator` must outlive the reducer. Not collective.
  explicit GradientReducer(Communicator& communicator, const ReducerOptions& options = {});
  GradientReducer(const GradientReducer&) = delete;
  GradientReducer& operator=(const GradientReducer&) = delete;
  ~GradientReducer();

  /// Registers a parameter of `count` elements whose gradient is written into the bucket itself, at
  /// gradient(i); returns i = 0, 1, …. Floating types only. Throws Error(usage) once the buckets
  /// are laid out.
  std::size_t add(std::string name, std::size_t count, DataType type);
  /// Registers a parameter whose gradient lies in the caller's memory: copied into the bucket by
  /// ready(), and back by finish(). The memory must outlive the reducer.
  std::size_t add(std::string name, Buffer gradient);
  /// Registers `parameters` in order, lays the buckets out, and makes the parameters' gradients
  /// views of them; returns the first one's number. No add() may follow.
  template <class T>
  std::size_t add_views(std::span<Parameter<T>* const> parameters);

  std::size_t parameters() const;
  /// Where parameter i's gradient is written and, after finish(), read. Lays the buckets out.
  Buffer gradient(std::size_t i);

  /// Starts a step: adds up `local_samples` over the ranks. Lays the buckets out the first time.
  void begin(std::uint64_t local_samples);
  /// Parameter i's gradient is complete. Throws Error(usage), naming the parameter, the second time
  /// in a step, or outside of begin() … finish().
  void ready(std::size_t i);
  /// Reduces what remains; returns the number of samples of all ranks. 0 ends the epoch for all.
  std::uint64_t finish();

  /// Of the last finished step.
  const ReducerStats& stats() const { return stats_; }

 private:
  struct Entry;
  struct Bucket;

  std::size_t add_entry(Entry entry);
  void check_registered(std::size_t i) const;
  void lay_out();
  void check_agreement();
  void mark_ready(Entry& entry);
  void step_all();
  void reduce(Bucket& bucket);
  void sum_up(Buffer data, const rondo::Options& options, Request& request);
  void wait_for(Request& request);
  void contribute_zeros();

  Communicator& communicator_;
  ReducerOptions options_;
  std::vector<Entry> entries_;
  std::vector<Bucket> buckets_;  // empty until laid out
  bool laid_out_ = false;
  bool agreed_ = false;  // all ranks registered alike
  bool in_step_ = false;
  std::uint64_t local_samples_ = 0;
  std::uint64_t total_samples_ = 0;
  Request counting_;          // of total_samples_
  std::size_t launched_ = 0;  // buckets whose reduction has begun in this step: the first so many
  std::size_t finished_ = 0;  // of these, the first so many are known to be over
  ReducerStats current_;
  ReducerStats stats_;
};

extern template std::size_t GradientReducer::add_views(std::span<Parameter<float>* const>);
extern template std::size_t GradientReducer::add_views(std::span<Parameter<double>* const>);

}  // namespace rondo::train
