#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>

#include <rondo/error.hpp>

#include "collectives/tuning.hpp"
#include "device/stagings.hpp"
#include "engine/launch.hpp"
#include "engine/messages.hpp"
#include "engine/node.hpp"
#include "engine/operation.hpp"
#include "engine/program_cache.hpp"
#include "engine/staged_operation.hpp"
#include "engine/uneven_all_to_all.hpp"
#include "transport/node_arena.hpp"
#include "transport/transport.hpp"

namespace rondo::engine {

/// The asynchronous operations of one communicator. Collective ones take the slots in turn; those
/// of one slot run one after another, the slots beside each other and beside the blocking calls:
///
///   blocking   #1       #4 #5
///   slot 0        #2          #6 …       each its own Operation and, on a node, its own arena
///   slot 1           #3          #7 …
///
/// As all ranks make the same calls in the same order, an operation has the same slot on all.
/// Nothing is made, and within one node no memory is taken, before the first one.
class Launches {
 public:
  static constexpr int kSlots = transport::NodeArena::kMoreAreas;
  /// So many are pending at most where one more is enqueued in a stream.
  static constexpr int kMostInStreams = 256;
  static constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

  /// All must live as long as this.
  Launches(transport::Transport& transport, ProgramCache& programs)
      : transport_(transport), programs_(programs), messages_(transport, pending_) {}

  /// As Operation has it; before the first launch.
  void meet_at(transport::NodeArena& arena) { arena_ = &arena; }
  void go_by(const collectives::TuningTable* tuning) { tuning_ = tuning; }

  /// Makes what launches on that device need, which is better not done while a stream waits for
  /// one. Throws Error(cuda).
  void get_ready(device::Runtime& devices, int device, std::size_t part_bytes);
  /// Queues it. Throws Error(system), and what Message throws.
  void add(Launch& launch);
  bool empty() const { return pending() == 0; }
  /// From any thread.
  int pending() const { return pending_.load(std::memory_order_relaxed); }
  /// Number of the oldest pending collective; kNone without one.
  std::uint64_t oldest() const;

  /// One step of every operation whose turn it is. Never blocks. True if anything moved. Throws
  /// what Operation throws.
  bool step();
  /// Calls `visit` with the first launch of each slot: those behind began to wait later.
  template <class Visit>
  void for_each_first(Visit visit) {
    for (Slot& slot : slots_)
      if (slot.first != nullptr) visit(*slot.first);
  }
  /// What is known of it so far.
  collectives::Signature signature_of(const Launch& launch) const;
  /// What another rank has begun here as its operation `sequence`, where this rank has not.
  std::optional<collectives::Begun> begun_by_another(std::uint64_t sequence) const;

  /// Whether all that is pending waits for numbers in the node's memory, and nothing else.
  bool wait_in_memory() const;

  /// Number of the newest pending collective; 0 without one.
  std::uint64_t newest() const;
  /// The one that the latest step was of; kNone if it was of a message.
  std::uint64_t stepped() const { return stepped_; }

  Messages& messages() { return messages_; }
  void fail_messages(const Error& error) {
    messages_.cancel();
    messages_.fail(error);
  }

  /// Lets the streams go on that wait for operation `sequence`, or later ones.
  void open_gates_from(std::uint64_t sequence) noexcept;
  /// Those from operation `sequence` on, and all messages.
  void cancel_from(std::uint64_t sequence);
  /// Those have failed, and are cancelled. The earlier ones go on.
  void fail_from(std::uint64_t sequence, const Error& error) noexcept;

 private:
  struct Slot {
    std::unique_ptr<Operation> operation;
    std::unique_ptr<StagedOperation> staged;  // of operation
    std::unique_ptr<UnevenAllToAll> uneven;   // likewise
    device::Stagings stagings;
    std::unique_ptr<Node> node;
    Launch* first = nullptr;
    Launch* last = nullptr;
    bool running = false;                 // the first one
    Series* series = nullptr;             // likewise, if it takes several operations
    Deadline::Clock::time_point began{};  // the first one; while there is a trace
  };
  enum class Memory : std::uint8_t { none, claimed, settled };

  void open();
  void claim_memory();
  bool settle_memory();
  void begin(Slot& slot);
  bool step(Slot& slot);
  void end(Slot& slot);
  static void finish(Launch& launch, Launch::State state) noexcept;
  void trace(const Slot& slot) const;

  transport::Transport& transport_;
  ProgramCache& programs_;
  transport::NodeArena* arena_ = nullptr;  // of the blocking calls
  const collectives::TuningTable* tuning_ = nullptr;
  std::array<Slot, kSlots> slots_;
  std::uint64_t added_ = 0;
  std::uint64_t stepped_ = kNone;
  std::atomic<int> pending_ = 0;
  Messages messages_;
  Memory memory_ = Memory::none;
  std::size_t part_bytes_ = 0;  // of staging
};

}  // namespace rondo::engine
