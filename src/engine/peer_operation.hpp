#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "collectives/arithmetic.hpp"
#include "collectives/selector.hpp"
#include "collectives/signature.hpp"
#include "device/memory.hpp"
#include "device/peer_memory.hpp"
#include "engine/operation.hpp"
#include "engine/series.hpp"

namespace rondo::engine {

/// An all-reduce on the memory of devices that reach each other's, or that several ranks share:
///
///   all ranks tell where their buffers lie → each works alone → all have finished
///
/// The work is enqueued when all inputs are ready, and nobody's stream waits for another rank, so a
/// lost one leaves nothing hanging. One shot: each rank reduces everything into its own output.
/// Two shots: rank r reduces slice r of all inputs, which it alone reads, and stores it into all
/// outputs, which may be the inputs. Either way the ranks are combined in their order with one
/// rounding. Of n bytes a rank reads n times the number of ranks, or n, and then writes n.
///
/// Resumable; never blocks, but in cancel().
class PeerOperation final : public Series {
 public:
  static constexpr std::uint64_t kOperations = 3;

  /// All must live as long as this.
  PeerOperation(Operation& operation, ProgramCache& programs, const transport::Transport& transport)
      : operation_(operation),
        programs_(programs),
        transport_(transport),
        peers_(transport.rank()) {}

  /// Whether it may serve such a call; alike on all ranks. Throws what Operation::start() throws.
  bool serves(const Call& call, const Terms& terms);
  /// A call (on_device) that it may serve. Begins when `after` is done.
  void start(device::Runtime& runtime, int device, const Call& call, const Terms& terms,
             std::uint64_t sequence, device::Event& after);
  /// Whether it did; otherwise, alike on all ranks, nothing was done, since a rank can't share its
  /// memory, or reach another's.
  bool served() const { return served_; }
  std::string_view algorithm() const { return choice_.algorithm->name; }
  /// Closes what the other ranks have freed. May wait for all work of the device.
  void close_past() noexcept { peers_.close_past(); }

  /// Throws Error(cuda) too.
  bool step(std::uint64_t oldest_pending) override;
  bool progressed() const override { return progressed_; }
  bool waits_in_memory() const override { return meets() && operation_.waits_in_memory(); }
  bool waits_for_device() const override { return stage_ == Stage::waiting; }
  void cancel() override;

  std::uint64_t sequence() const override { return sequence_; }
  const collectives::Signature& signature() const override {
    return meets() ? operation_.signature() : between_;
  }

 private:
  enum class Stage : std::uint8_t { waiting, offering, opening, working, ending, storing, over };

  /// Whether all ranks take part in what is under way.
  bool meets() const {
    return stage_ == Stage::offering || stage_ == Stage::opening || stage_ == Stage::ending;
  }
  bool advance(std::uint64_t oldest_pending);
  bool advance_meeting();
  void offer();
  void take_offers();
  void conclude_opening();
  void work();
  void reduce_all();
  void reduce_slice();
  void meet(Call step);
  template <class T>
  void tell_all(std::vector<T>& all, const T& mine);
  core::Fold fold() const;
  std::byte* output() const { return static_cast<std::byte*>(call_.output.data); }
  /// Where `offset` bytes of all inputs lie.
  const std::vector<const void*>& sources(std::size_t offset);
  std::byte* room(std::size_t bytes);

  Operation& operation_;
  ProgramCache& programs_;
  const transport::Transport& transport_;
  device::SharedAllocations shared_;
  device::PeerMemory peers_;
  bool refused_ = false;  // a rank couldn't reach another one's memory: never again

  device::Runtime* runtime_ = nullptr;
  int device_ = 0;
  Call call_;
  Terms terms_;
  collectives::Choice choice_;
  collectives::Signature between_;  // where no operation is under way
  std::uint64_t sequence_ = 0;
  device::Event* after_ = nullptr;
  Stage stage_ = Stage::over;
  bool progressed_ = false;
  bool served_ = false;
  bool logged_ = false;

  std::vector<device::PeerBuffers> offers_;
  std::vector<std::uint8_t> failures_;  // of the ranks to open the others' memory
  std::vector<const void*> sources_;
  // By device, for results in place; freeing one may wait, so none is.
  std::map<int, std::vector<device::Memory>> rooms_;
  std::byte* result_ = nullptr;  // not in its place yet
  std::unique_ptr<device::Event> done_;
  std::unique_ptr<device::Stream> stream_;  // last, so that it is idle when the memory goes
};

}  // namespace rondo::engine
