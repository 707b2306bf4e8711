#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <rondo/buffer.hpp>
#include <rondo/options.hpp>
#include <rondo/request.hpp>
#include <rondo/train/array.hpp>
#include <rondo/train/compression.hpp>
#include <rondo/train/parameter.hpp>

namespace rondo {
class Communicator;
}

namespace rondo::train {

struct Exchange;

/// What a step whose mean gradients are not all finite comes to, on all ranks alike.
enum class NonFinite {
  propagate,  ///< nobody looks
  skip,       ///< finish() says so, and the optimizer is not to be stepped; a warning names the
              ///< parameter, once
  stop,       ///< finish() throws SharedError(usage) naming the parameter, and the ranks whose own
              ///< gradients were not finite
};

/// How a GradientReducer works. All ranks say the same.
struct ReducerOptions {
  std::size_t bucket_bytes = std::size_t{25} << 20;  ///< a bucket's most, but for huge parameters
  std::size_t first_bucket_bytes = std::size_t{1} << 20;  ///< likewise, of the first to be ready
  bool overlap = true;  ///< buckets travel while backward goes on; false: each ready() that
                        ///< completes one waits for it
  Compression compression = {};  ///< of what travels
  NonFinite on_nonfinite = NonFinite::propagate;
  double clip_norm = 0.0;  ///< the most that the norm of all mean gradients together may be: they
                           ///< are multiplied by clip_norm / (norm + 1e-6) where that is below 1,
                           ///< as PyTorch's clip_grad_norm_ does; 0: any
  bool shard = false;      ///< each rank gets the gradients of its own slice() only
  rondo::Options collective =
      {};  ///< for each all-reduce; `scale` is the reducer's own and must be 1
};

/// What became of a bucket in a step, on this rank; in seconds since begin().
struct BucketTimes {
  double ready = 0.0;     ///< its last gradient was there
  double launched = 0.0;  ///< its reduction began: once those of the buckets before it had
  double finished = 0.0;  ///< its reduction was over, whether or not somebody waited for it
  double waited = 0.0;    ///< how long this rank stood still for it
};

/// Communication of one step or of many, on one rank, in seconds.
struct CommunicationTimes {
  double communication = 0.0;  ///< gradients were on their way
  double exposed = 0.0;        ///< of that, or of waiting for the number of samples: this rank's
                               ///< computing stood still

  /// The part of the communication that computing hid: from 0 to 1; 1 where there was none.
  double overlap() const;
  CommunicationTimes& operator+=(const CommunicationTimes& other);
};

/// What a step's reduction was.
struct ReducerStats : CommunicationTimes {
  std::size_t buckets = 0;                ///< all-reduces of gradients
  std::size_t bytes = 0;                  ///< of gradients
  std::vector<BucketTimes> bucket_times;  ///< in the order in which they were reduced
  double norm = 0.0;  ///< of all mean gradients before clipping; without clip_norm, 0
  bool skip = false;  ///< not all gradients are finite: leave the optimizer as it is
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
/// Several micro-batches make one step, as under PyTorch's no_sync(), when accumulate() is said
/// before each but the last; gradients are then divided by the samples of all of them:
///
///   reducer.accumulate(samples_1);  …; reducer.ready(weight);  …   // nothing travels
///   reducer.begin(samples_2);       …; reducer.ready(weight);  …   // the sum of both travels
///   reducer.finish();
///
/// A parameter that is not ready by finish() contributes zeros, or what was accumulated, on this
/// rank; if this rank has samples and nothing of it, a warning names it, once. A rank without
/// samples may go straight from begin(0) to finish(). When no rank has samples, nothing is reduced
/// and all gradients are zeros. So ranks with unequally many batches go on until all are done:
///
///   for (;;) {
///     const auto batch = loader.next();           // empty once this rank has run out
///     reducer.begin(batch ? batch->samples() : 0);
///     if (batch) …                                // forward and backward
///     if (reducer.finish() == 0) break;           // on all ranks at once
///     if (!reducer.stats().skip) optimizer.step(rate);
///   }
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
  /// The same for a tensor; what becomes of it on its way may depend on its shape.
  std::size_t add(std::string name, std::vector<std::size_t> shape, DataType type);
  /// Registers a parameter whose gradient lies in the caller's memory, on the host: copied into the
  /// bucket by ready(), and back by finish(). The memory must outlive the reducer.
  std::size_t add(std::string name, Buffer gradient);
  /// Throws Error(usage) unless `shape` has gradient.count elements.
  std::size_t add(std::string name, std::vector<std::size_t> shape, Buffer gradient);
  /// Registers `parameters` in order, lays the buckets out where the parameters lie, and makes
  /// their gradients views of them; returns the first one's number. No add() may follow, and the
  /// parameters must outlive the reducer, and not be moved. Throws
  /// Error(usage) unless all lie in one place; on a device, if there are other gradients, or they
  /// are to be sharded or compressed.
  template <class T>
  std::size_t add_views(std::span<Parameter<T>* const> parameters);

  std::size_t parameters() const;
  /// Where parameter i's gradient is written and, after finish(), read. Lays the buckets out.
  Buffer gradient(std::size_t i);

  /// What this rank has of parameter i's gradient after finish(): all of it or, with
  /// ReducerOptions::shard, the elements that it owns; the others are then unspecified. A rank owns
  /// about 1/size() of each bucket, cut without regard to where a parameter ends. Lays the buckets
  /// out. Not collective.
  Slice slice(std::size_t i);
  /// With ReducerOptions::shard, after a step on the owned elements: gives every rank all of the
  /// values, one buffer for each parameter, of which it has its own slices. They travel through the
  /// gradients' memory. Collective.
  void gather(std::span<const Buffer> values);

  /// Starts a micro-batch that is not its step's last: until the next accumulate() or begin(),
  /// ready() adds gradients up in memory of the reducer's own (in float32 those of 16 bits), which
  /// is taken once. Who adds them up himself calls no ready(). Not collective: ranks may have
  /// unequally many micro-batches. Throws Error(usage) between begin() and finish().
  void accumulate(std::uint64_t local_samples);
  /// Starts a step, or its last micro-batch: adds up the samples of all micro-batches over the
  /// ranks. Lays the buckets out the first time.
  void begin(std::uint64_t local_samples);
  /// Parameter i's gradient is complete. Throws Error(usage), naming the parameter, the second time
  /// in a micro-batch, or outside of one.
  void ready(std::size_t i);
  /// Reduces what remains; returns the number of samples of all ranks. 0 ends the epoch for all.
  std::uint64_t finish();

  /// What compression with error feedback has left on this rank for the next step, for checkpoints:
  /// "reducer.residual.PARAMETER", in the parameter's shape. Each rank saves its own, as
  /// TrainingState::residuals. Valid until the next finish().
  std::vector<ArrayView> residuals();
  /// What it has left on all ranks alike: "reducer.q.PARAMETER", from which powersgd starts.
  std::vector<ArrayView> state();

  /// Of the last finished step.
  const ReducerStats& stats() const { return stats_; }
  /// Steps so far that were to be skipped.
  std::uint64_t skipped() const { return skipped_; }

 private:
  enum class Phase { idle, accumulating, reducing };
  struct Entry;
  struct Bucket;

  std::size_t add_entry(Entry entry);
  void check_registered(std::size_t i) const;
  void set_place(Compute& place);
  void check_views() const;
  void lay_out();
  void copy(ConstBuffer from, Buffer to);
  void fill_with_zeros(Buffer data);
  ConstBuffer on_host(ConstBuffer gradients);
  void add_bucket(DataType type, std::vector<std::size_t> entries);
  void deal_out(Bucket& bucket);
  void check_agreement();
  void split_stages();
  void mark_ready(Entry& entry);
  void advance(bool patiently);
  void launch(Bucket& bucket, std::size_t stage);
  void exchange(const Exchange& exchange, Communicator& communicator, Request& request);
  void wait_for(Request& request);
  void wait_for(Bucket& bucket);
  BucketTimes& times_of(const Bucket& bucket);
  double since_begin(std::chrono::steady_clock::time_point time) const;
  void contribute_what_is_there();
  void judge();
  double norm_of_gradients();
  void judge_nonfinite();

  Communicator& communicator_;
  ReducerOptions options_;
  Compute* place_ = &Compute::host();  // of the buckets
  std::vector<Entry> entries_;
  std::vector<Bucket> buckets_;  // empty until laid out
  bool laid_out_ = false;
  bool agreed_ = false;  // all ranks registered alike
  Phase phase_ = Phase::idle;
  std::uint64_t local_samples_ = 0;  // of the step so far
  std::unique_ptr<std::uint64_t> total_samples_ = std::make_unique<std::uint64_t>(0);
  Request counting_;  // of total_samples_
  // One for each stage of a reduction but the first: by the time a bucket's second stage may begin,
  // ranks have begun different numbers of first stages.
  std::vector<Communicator> stage_communicators_;
  // begun_[s]: the first so many buckets have begun stage s in this step, or don't have it; the
  // last one: so many are reduced.
  std::vector<std::size_t> begun_;
  std::vector<std::byte> fetched_;  // gradients from a device
  std::uint64_t skipped_ = 0;
  bool skip_reported_ = false;
  std::size_t own_nonfinite_ = 0;  // the first parameter whose own gradient is not finite
  std::chrono::steady_clock::time_point began_;  // the step
  ReducerStats current_;
  ReducerStats stats_;
};

extern template std::size_t GradientReducer::add_views(std::span<Parameter<float>* const>);
extern template std::size_t GradientReducer::add_views(std::span<Parameter<double>* const>);

}  // namespace rondo::train
