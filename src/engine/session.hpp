#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <rondo/buffer.hpp>
#include <rondo/error.hpp>
#include <rondo/options.hpp>

#include "collectives/placement.hpp"
#include "collectives/tuning.hpp"
#include "core/settings.hpp"
#include "device/stagings.hpp"
#include "engine/call.hpp"
#include "engine/deadline.hpp"
#include "engine/group_operation.hpp"
#include "engine/health.hpp"
#include "engine/launch.hpp"
#include "engine/launches.hpp"
#include "engine/message.hpp"
#include "engine/operation.hpp"
#include "engine/peer_operation.hpp"
#include "engine/polled_sessions.hpp"
#include "engine/program_cache.hpp"
#include "engine/progress_thread.hpp"
#include "engine/series.hpp"
#include "engine/session_lock.hpp"
#include "engine/staged_message.hpp"
#include "engine/staged_operation.hpp"
#include "engine/uneven_all_to_all.hpp"
#include "transport/transport.hpp"

namespace rondo::device {
class Runtime;
}  // namespace rondo::device

namespace rondo::engine {

/// Everything of one communicator on one rank: its transport, the operation under way, the plans
/// made so far, and what is known of its peers. Communicator's calls come down to these, and have
/// the same contracts.
class Session {
 public:
  /// Collective over the transport's ranks: rank 0's settings become everybody's.
  Session(std::unique_ptr<transport::Transport> transport, const Options& defaults,
          const core::Settings& settings);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const transport::Transport& transport() const { return *transport_; }
  const core::Settings& settings() const { return settings_; }
  /// Whether messages of operations that are over may be unfinished, so that their memory must
  /// stay.
  bool has_failed() noexcept;
  std::string_view last_algorithm() const { return last_algorithm_; }
  collectives::Placement placement() const;
  /// What RONDO_TUNING_FILE holds, on every rank; empty without one.
  const collectives::Tuning& tuning() const { return *tuning_; }

  void run(const Call& call, const Options& options);
  /// In place; the tensors of each type travel as one message.
  void allreduce_all(std::span<const Buffer> tensors, ReduceOp op, const Options& options);
  void all_to_all_v(const Call& call, const Options& options);
  void send(ConstBuffer data, Rank to, const Options& options);
  void receive(Buffer data, Rank from, const Options& options);
  /// Begins a collective call that doesn't wait.
  Launch& launch(const Call& call, const Options& options) {
    return launch(call, options, nullptr);
  }
  /// The same for a send, with what goes out, or a receive, with where it comes to.
  Launch& launch_message(Launch::Kind kind, ConstBuffer outgoing, Buffer incoming, Rank peer,
                         const Options& options);
  const std::shared_ptr<LaunchPool>& launch_pool() const { return launch_pool_; }
  /// Steps what is pending until `launch` is over, or `until` is past; whether it is over. Never
  /// throws what made it fail.
  bool wait(Launch& launch, Deadline::Clock::time_point until);
  /// One step of what is pending; whether `launch` is over.
  bool test(Launch& launch);
  /// The same as wait() for destructors: whatever goes wrong is logged.
  void wait_until_over(Launch& launch) noexcept;

  /// Null for color < 0.
  std::unique_ptr<Session> split(int color, int key);

  /// For the progress thread, and PolledSessions: one step of what is pending, and, if so asked, an
  /// answer to peers' questions, unless a call is under way (which does it itself).
  Activity advance_if_free(bool also_if_idle) noexcept;
  /// Whether the ranks of this node leave no core to a thread beside each of them.
  bool needs_all_cores() const { return needs_all_cores_; }

 private:
  class Hold;

  /// With settings that are known to be alike.
  struct Agreed {};
  Session(Agreed, std::unique_ptr<transport::Transport> transport, const Options& defaults,
          const core::Settings& settings);

  struct Opening;
  void broadcast_bytes(void* data, std::size_t bytes);
  void adopt_settings_of_rank_0();
  void compare_digests();
  void go_by_tuning();
  void meet_before_split();
  std::unique_ptr<transport::NodeArena> make_arena();
  void meet_on_node();
  /// What every rank's `mine` is, in rank order.
  template <class T>
  std::vector<T> gather_from_all(const T& mine);
  /// The same in a session that is held.
  template <class T>
  std::vector<T> gather_held(const T& mine);
  Terms terms_of(const Options& options) const;

  /// Holds the session and runs `body`; whatever it throws poisons the communicator and is thrown,
  /// or ends the job.
  template <class Body>
  decltype(auto) guarded(Body&& body);
  /// What becomes of the pending operations while a blocking one is under way.
  enum class Pending : std::uint8_t { moves, rests };
  void run_held(const Call& call, const Options& options, Pending pending = Pending::moves);
  /// The same where buffers may lie in the memory of devices.
  void run_anywhere(const Call& call, const Options& options, device::Runtime& devices);
  /// Whether devices that reach the memory of all ranks have served it.
  bool run_among_peers(const Call& call, const Options& options, device::Runtime& devices,
                       int device);
  void run_staged(const Call& call, const Options& options, device::Runtime& devices, int device,
                  std::span<const Buffer> tensors = {});
  /// Whether the devices' own collectives serve a call; collective at the first one, which makes
  /// the ranks meet there if they can.
  bool goes_by_group(const Call& call, const Options& options, device::Runtime& devices,
                     int device);
  void meet_on_devices(const Call& call, const Options& options, device::Runtime& devices,
                       int device);
  void join_group(device::GroupMaker& maker, const device::GroupId& id, int device,
                  std::chrono::milliseconds timeout);
  void run_in_group(const Call& call, const Options& options, device::Runtime& devices);
  /// Of a blocking send or receive; false where its memory isn't a device's.
  bool start_staged_message(ConstBuffer outgoing, Buffer incoming, Rank peer);
  /// Bytes of a part in pinned memory.
  std::size_t part_bytes() const;
  /// Of a call that doesn't wait, where its memory is a device's: marks what comes before it, and
  /// says how many operations it takes.
  std::optional<Launch::OnDevice> begin_on_device(const Call& call, const Options& options,
                                                  std::uint64_t& operations);
  /// Of a call that is to be ordered with a stream.
  void check_stream(const Call& call);
  void refuse_captured(device::Stream& stream) const;
  /// So that they aren't endlessly many.
  void wait_for_earlier_ones();
  void refuse_devices(std::string_view call, std::string_view argument, ConstBuffer data) const;
  /// A blocking call that takes so many operations, and has been started with the next number.
  void run_series(const Call& call, Series& series, std::uint64_t operations, const Terms& terms);
  /// Of a blocking call that is over.
  void trace(const Call& call, Deadline::Clock::time_point began) const;
  void reduce_together(std::span<const Buffer> tensors, ReduceOp op, const Options& options);
  void pack_and_reduce(std::span<const Buffer> tensors, Call& call, const Options& options);
  void check_peer(Rank peer, const char* call) const;
  /// Steps `work` until it is done, the deadline passes or a peer fails.
  template <class Work>
  void finish(Work& work, std::chrono::milliseconds timeout, Pending pending = Pending::moves);
  bool step(Operation& work) { return work.step(); }
  bool step(Message& work) { return work.step(); }
  bool step(Series& work) { return work.step(launches_->oldest()); }
  /// Of a loop of steps: steps others if nothing moved here, and pauses if nothing moved at all.
  void end_turn(core::Backoff& backoff, bool moved, bool waits_in_memory);
  /// Reads notices, and looks at what is pending.
  void look_around();
  void look_at_launches();
  /// Throws if that operation can't be done any more.
  void look_at(Deadline& deadline, const collectives::Signature& signature);
  void look_for_other_kind(const collectives::Signature& signature) const;
  bool crowded() const { return node_ == nullptr || !node_->is_all() || node_->crowded(); }
  bool step_launches();
  bool try_step_launches() noexcept;
  /// Whoever `owner` is gets it back when it is over; null: the Request gives it back.
  Launch& launch(const Call& call, const Options& options, LaunchPool* owner);
  /// What launch() and launch_message() have in common.
  Launch& begin(Launch& launch);
  std::uint64_t oldest_unfinished() const;
  /// Has the progress thread step this; false where there can't be one.
  bool watch();
  void let_others_step_this();
  void leave_drivers();
  Activity step_others() const;
  void try_pump() noexcept;
  void make_room();
  /// Those that are pending from that rank come before a blocking one.
  void finish_receives(Rank from);
  /// Steps what is pending until `done()`, or until `until`.
  template <class Done>
  bool drive(Done done, Deadline::Clock::time_point until);
  void finish_launches() noexcept;
  /// MPI goes away.
  void end() noexcept;
  template <class Done>
  void finish_pending(Done done, Deadline::Clock::time_point until,
                      std::string_view why_not_later) noexcept;
  void give_up(const std::exception& error);
  /// Cancels operation `sequence` and all later ones, and tells the other ranks why.
  void poison(const Error& error, std::uint64_t sequence);
  /// Ends the job if failures do so here.
  void abort_after(const Error& error);
  [[noreturn]] void fail(const Error& error);

  std::unique_ptr<transport::Transport> transport_;
  core::Settings settings_;
  // Shared with the communicators that are split off, each of which has its own table in it.
  std::shared_ptr<const collectives::Tuning> tuning_ = std::make_shared<collectives::Tuning>();
  Options defaults_;
  std::string default_algorithm_;
  Health health_;
  // After a failure these stay alive for ever: sends that never finished still read them.
  std::unique_ptr<Node> node_;  // null where the ranks don't share one, or its memory
  std::unique_ptr<Operation> operation_;
  std::unique_ptr<Message> message_;
  ProgramCache programs_;
  std::unique_ptr<Launches> launches_;
  // Shared with the requests, which may outlive this.
  std::shared_ptr<LaunchPool> launch_pool_ = std::make_shared<LaunchPool>();
  std::vector<std::byte> packed_;
  std::unique_ptr<StagedOperation> staged_;        // of operation_
  std::unique_ptr<device::Event> after_message_;   // which comes before the next
  std::unique_ptr<StagedMessage> staged_message_;  // of message_
  std::unique_ptr<UnevenAllToAll> uneven_;         // of operation_
  std::unique_ptr<GroupOperation> in_group_;       // likewise
  std::unique_ptr<PeerOperation> among_peers_;     // likewise
  bool met_on_devices_ = false;                    // or tried to
  std::unique_ptr<device::Stagings> stagings_ = std::make_unique<device::Stagings>();
  std::uint64_t sequence_ = 0;
  std::optional<std::uint64_t> fault_;  // the pending operation that an error under way is of
  std::string_view last_algorithm_;
  SessionLock lock_;
  bool watched_ = false;  // by the progress thread
  bool polled_ = false;   // among the PolledSessions
  bool needs_all_cores_ = true;
  Deadline::Clock::time_point next_look_{};
  bool lacks_shared_memory_ = false;  // known to all ranks, who have said so
};

}  // namespace rondo::engine
