#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <rondo/buffer.hpp>
#include <rondo/error.hpp>
#include <rondo/options.hpp>
#include <rondo/request.hpp>
#include <rondo/types.hpp>

namespace rondo {

namespace engine {
class Session;
struct Call;
}  // namespace engine

/// A group of ranks and the collectives among them.
///
/// Every call named "collective" below is made by all ranks of the communicator, in the same order,
/// with arguments that agree (count, type, op, root, options); a disagreement is an Error(mismatch)
/// that names both sides, never a hang. Counts are elements. Input is untouched unless it is the
/// output (in place: the same address); partial overlap is refused. A null pointer is allowed where
/// the count is 0.
///
/// Buffers lie in host memory, CUDA's pinned and managed memory included. All but all_to_all_v,
/// isend and ireceive also take memory of a CUDA device, all of a call on the same one, on every
/// rank concerned; what was enqueued in the device's default stream comes before them. With
/// Options::stream collectives are ordered with that stream's work instead, and return at once;
/// where streams wait for each other's calls, all ranks enqueue them in the same order, those of
/// other communicators too.
///
/// Blocking calls return when this rank's buffers may be reused. All ranks hold identical bits
/// afterwards. Two threads on one communicator at once are refused with Error(usage); different
/// communicators are independent.
///
/// Any failure poisons the communicator: the operation and every later one fail. Earlier requests
/// go on, and are done where no rank has failed in them and every rank still steps them (by the
/// progress thread, or waiting); else they fail at their own deadlines. RONDO_ON_FAILURE says
/// whether it is thrown or ends the job. Under `throw`, memory of unfinished sends must outlive the
/// process.
class Communicator {
 public:
  /// Duplicates `comm`, so that this communicator's messages never meet the caller's. Collective
  /// over `comm`. MPI must be initialised (see Environment). Throws Error(usage) before MPI_Init,
  /// after MPI_Finalize, or for MPI_COMM_NULL.
  explicit Communicator(MPI_Comm comm, const Options& options = {});

  /// Made of an existing session: how ranks that are threads, and tests, get one.
  explicit Communicator(std::unique_ptr<engine::Session> session);

  Communicator(Communicator&&) noexcept;
  Communicator& operator=(Communicator&&) noexcept;
  /// Not collective and never throws. Waits for its pending requests, as ~Request does.
  ~Communicator();

  Rank rank() const;
  int size() const;
  /// Number of nodes (machines) that the ranks lie on, and this rank's place in its own.
  int nodes() const;
  int node_rank() const;
  int node_size() const;

  /// A communicator of the ranks with the same color, ordered by (key, rank). Collective. With
  /// color < 0 the caller joins none: the result then has size 0 and refuses every collective.
  Communicator split(int color, int key = 0);

  // ── All-reduce: every rank gets the reduction of all inputs. Collective.
  // ──────────────────────────────────────────
  void allreduce(ConstBuffer input, Buffer output, ReduceOp op, const Options& options = {});
  template <class T>
  void allreduce(std::span<T> data, ReduceOp op, const Options& options = {}) {
    allreduce(ConstBuffer(data), Buffer(data), op, options);
  }
  /// Many tensors at once, in place, coalesced into as few messages as their types allow.
  void allreduce(std::span<const Buffer> tensors, ReduceOp op, const Options& options = {});

  /// Only `root` gets the reduction; elsewhere `output` may be empty. Collective.
  void reduce(ConstBuffer input, Buffer output, ReduceOp op, Rank root,
              const Options& options = {});

  /// Every rank gets what `root` has in `data`. Collective.
  void broadcast(Buffer data, Rank root, const Options& options = {});
  template <class T>
  void broadcast(std::span<T> data, Rank root, const Options& options = {}) {
    broadcast(Buffer(data), root, options);
  }

  /// `input` holds size() blocks of output.count elements; this rank gets the reduction of block
  /// rank(). In place: output.data is the address of that block within input. Collective.
  void reduce_scatter(ConstBuffer input, Buffer output, ReduceOp op, const Options& options = {});
  /// Block r has counts[r] elements, alike on all ranks.
  void reduce_scatter_v(ConstBuffer input, Buffer output, std::span<const std::size_t> counts,
                        ReduceOp op, const Options& options = {});

  /// Every rank gets all ranks' inputs, in rank order. In place: input.data is the address of block
  /// rank() in output. Collective.
  void allgather(ConstBuffer input, Buffer output, const Options& options = {});
  /// Rank r contributes counts[r] elements, alike on all ranks.
  void allgather_v(ConstBuffer input, Buffer output, std::span<const std::size_t> counts,
                   const Options& options = {});

  /// Block r of `input` goes to rank r, whose block rank() it becomes. Out of place only.
  /// Collective.
  void all_to_all(ConstBuffer input, Buffer output, const Options& options = {});
  /// send_counts[r] elements go to rank r and receive_counts[r] come from it; blocks lie one after
  /// another.
  void all_to_all_v(ConstBuffer input, std::span<const std::size_t> send_counts, Buffer output,
                    std::span<const std::size_t> receive_counts, const Options& options = {});

  /// `root` gets all inputs in rank order; elsewhere `output` may be empty. Collective.
  void gather(ConstBuffer input, Buffer output, Rank root, const Options& options = {});
  /// Rank r gets block r of root's `input`; elsewhere `input` may be empty. Collective.
  void scatter(ConstBuffer input, Buffer output, Rank root, const Options& options = {});

  /// Returns when every rank has called it. Collective.
  void barrier(const Options& options = {});

  // ── Calls that don't wait. Collective: an `i…` call must be one on all ranks. They have the same
  // arguments and contracts as the blocking ones, and return at once; an error in the arguments is
  // thrown here, all others by the Request. What `options` and lists of counts refer to may go once
  // the call has returned. Any number may be pending, in whatever order they are waited for; two of
  // them, and a blocking call, are under way at once, so that a small blocking call may overtake.
  // The transport's own collectives ("mpi") serve blocking calls only.
  // ──────────────────
  Request iallreduce(ConstBuffer input, Buffer output, ReduceOp op, const Options& options = {});
  template <class T>
  Request iallreduce(std::span<T> data, ReduceOp op, const Options& options = {}) {
    return iallreduce(ConstBuffer(data), Buffer(data), op, options);
  }
  Request ireduce(ConstBuffer input, Buffer output, ReduceOp op, Rank root,
                  const Options& options = {});
  Request ibroadcast(Buffer data, Rank root, const Options& options = {});
  template <class T>
  Request ibroadcast(std::span<T> data, Rank root, const Options& options = {}) {
    return ibroadcast(Buffer(data), root, options);
  }
  Request ireduce_scatter(ConstBuffer input, Buffer output, ReduceOp op,
                          const Options& options = {});
  Request ireduce_scatter_v(ConstBuffer input, Buffer output, std::span<const std::size_t> counts,
                            ReduceOp op, const Options& options = {});
  Request iallgather(ConstBuffer input, Buffer output, const Options& options = {});
  Request iallgather_v(ConstBuffer input, Buffer output, std::span<const std::size_t> counts,
                       const Options& options = {});
  Request iall_to_all(ConstBuffer input, Buffer output, const Options& options = {});
  Request iall_to_all_v(ConstBuffer input, std::span<const std::size_t> send_counts, Buffer output,
                        std::span<const std::size_t> receive_counts, const Options& options = {});
  Request igather(ConstBuffer input, Buffer output, Rank root, const Options& options = {});
  Request iscatter(ConstBuffer input, Buffer output, Rank root, const Options& options = {});
  Request ibarrier(const Options& options = {});

  // ── Between two ranks: not collective; matched in order per pair; must agree in count and type.
  // ───────────────────
  void send(ConstBuffer data, Rank to, const Options& options = {});
  void receive(Buffer data, Rank from, const Options& options = {});
  /// The same without waiting, as the `i…` calls above: a blocking call matches one that doesn't
  /// wait. Receives from one rank end in their order. Those that are pending fail with any failure
  /// of the communicator.
  Request isend(ConstBuffer data, Rank to, const Options& options = {});
  Request ireceive(Buffer data, Rank from, const Options& options = {});

  /// The algorithm that served the latest collective that this rank has waited for, as
  /// docs/algorithms.md names it (of "node" with the way: "node, direct"); empty before the first
  /// one, and after a barrier. Not collective.
  std::string_view last_algorithm() const;

  /// What lies underneath; for Rondo's own parts.
  engine::Session& session();

 private:
  Request launch(const engine::Call& call, const Options& options);

  std::unique_ptr<engine::Session> session_;
};

}  // namespace rondo
