#include "collectives/agreement.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/core.h>

#include "collectives/team.hpp"

namespace rondo::collectives {

namespace {

/// A partial value takes at most twice the bytes of its element.
constexpr std::size_t kWidest = 2;

}  // namespace

std::string describe(const Conflict& conflict) {
  return fmt::format(
      "ranks disagree on {}: rank {} calls {}, but rank {} calls {}; all ranks must make the same "
      "calls in the same order",
      differences(conflict.signature, conflict.other_signature), conflict.rank,
      describe(conflict.signature), conflict.other_rank, describe(conflict.other_signature));
}

Agreement::Agreement(transport::Transport& transport) : transport_(transport) {
  const std::size_t data = kWidest * piggyback_limit(Collective::allreduce, transport_.size());
  capacity_ = round_up(sizeof(Header) + std::max(sizeof(Conflict), data));
  value_ = values_.reserve(data);
  plan_phases();
  make_room();
}

void Agreement::plan_phases() {
  const Cores cores(transport_.size());
  const Rank rank = transport_.rank();
  if (cores.is_extra(rank)) {
    add_phase(Kind::give_value, rank - 1);
    add_phase(Kind::take_result, rank - 1);
    return;
  }
  const int core = cores.core_of(rank);
  if (cores.has_extra(core)) add_phase(Kind::take_value, rank + 1);
  add_exchanges(core);
  add_collects();
  if (cores.has_extra(core)) add_phase(Kind::give_result, rank + 1);
}

void Agreement::add_phase(Kind kind, Rank peer) {
  Phase phase{.kind = kind, .peers = 1};
  phase.peer[0].rank = peer;
  phase.peer[0].place = 1;
  phases_.push_back(phase);
}

void Agreement::add_exchanges(int core) {
  const Cores cores(transport_.size());
  const int width = transport_.size() < kManyRanks ? 1 : 2;
  for (int begin = 0; begin < cores.steps(); begin += width) {
    const int group = 1 << std::min(width, cores.steps() - begin);
    const int place = core >> begin & (group - 1);
    Phase phase{.kind = Kind::exchange, .place = static_cast<std::size_t>(place)};
    for (int other = 0; other < group; ++other) {
      if (other == place) continue;
      Peer& peer = phase.peer[phase.peers++];
      peer.rank = cores.member_of(core + (other - place) * (1 << begin));
      peer.place = static_cast<std::size_t>(other);
    }
    phases_.push_back(phase);
  }
}

/// The way back.
void Agreement::add_collects() {
  for (std::size_t index = phases_.size(); index-- > 0;) {
    if (phases_[index].kind != Kind::exchange) continue;
    phases_.push_back(phases_[index]);
    phases_.back().kind = Kind::collect;
    phases_.back().exchange = index;
  }
}

void Agreement::make_room() {
  std::size_t messages = 0;
  for (const Phase& phase : phases_) messages += 2 * phase.peers;
  std::byte* room = messages_.reserve(messages * capacity_);
  for (Phase& phase : phases_)
    for (Peer& peer : phase.all_peers()) {
      peer.outgoing = room;
      peer.incoming = room + capacity_;
      room += 2 * capacity_;
    }
}

void Agreement::start(const Signature& signature, transport::Tag tag, const Piggyback& data) {
  signature_ = signature;
  tag_ = tag;
  data_ = data;
  in_parts_ = bytes_of(Value::finished, data_.count) > kWholeLimit;
  conflict_.reset();
  finished_ = false;
  current_ = 0;
  result_ = data_.output != nullptr ? data_.output
                                    : results_.reserve(bytes_of(Value::finished, data_.count));
  divide();
  for (Phase& phase : phases_) post(phase);
  if (data_.count > 0) data_.arithmetic.load(data_.input, value_, data_.count);
  if (!phases_.empty()) enter(phases_.front());
}

Agreement::Range Agreement::Phase::part(std::size_t of_place) const {
  const auto begin_of = [&](std::size_t which) { return range.count * which / (peers + 1); };
  return {range.begin + begin_of(of_place), begin_of(of_place + 1) - begin_of(of_place)};
}

void Agreement::divide() {
  mine_ = {0, data_.count};
  for (Phase& phase : phases_) {
    phase.range = phase.kind == Kind::collect ? phases_[phase.exchange].range : mine_;
    if (phase.kind == Kind::exchange) mine_ = kept(phase, phase.place);
  }
}

/// What a rank of the group goes on with after a phase.
Agreement::Range Agreement::kept(const Phase& phase, std::size_t place) const {
  return in_parts_ && phase.kind == Kind::exchange ? phase.part(place) : phase.range;
}

/// Once the exchanges are over, every rank but the extra ones knows of each conflict.
bool Agreement::is_skipped(const Phase& phase) const {
  return phase.kind == Kind::collect && (!in_parts_ || conflict_);
}

/// Receives come first, so that no message comes unexpected.
void Agreement::post(Phase& phase) {
  const bool receives = phase.kind == Kind::take_value || phase.kind == Kind::exchange ||
                        phase.kind == Kind::take_result;
  for (Peer& peer : phase.all_peers())
    if (receives)
      peer.receive = transport::Transfer(
          transport_.receive(peer.rank, tag_, peer.incoming, capacity_, transport::Sizes::at_most));
}

bool Agreement::step() {
  progressed_ = false;
  while (current_ < phases_.size()) {
    if (!leave(phases_[current_])) return false;
    if (++current_ < phases_.size()) enter(phases_[current_]);
  }
  if (!all_sent()) return false;
  finish();
  return true;
}

void Agreement::enter(Phase& phase) {
  if (is_skipped(phase)) return;
  switch (phase.kind) {
    case Kind::give_value:
    case Kind::exchange:
      for (Peer& peer : phase.all_peers()) send_value(peer, kept(phase, peer.place));
      return;
    case Kind::collect:
      finish();
      return exchange_finished_parts(phase);
    case Kind::give_result:
      finish();
      return send_message(phase.peer[0], result_, bytes_of(Value::finished, data_.count));
    case Kind::take_value:
    case Kind::take_result:
      return;
  }
}

void Agreement::send_value(Peer& peer, const Range& range) {
  send_message(peer, value_ + bytes_of(Value::partial, range.begin),
               bytes_of(Value::partial, range.count));
}

void Agreement::send_message(Peer& peer, const void* body, std::size_t bytes) {
  const Header header{signature_, conflict_ ? 1U : 0U};
  if (conflict_) {
    body = &*conflict_;
    bytes = sizeof *conflict_;
  }
  std::memcpy(peer.outgoing, &header, sizeof header);
  if (bytes > 0) std::memcpy(peer.outgoing + sizeof header, body, bytes);
  peer.send =
      transport::Transfer(transport_.send(peer.rank, tag_, peer.outgoing, sizeof header + bytes));
}

/// All agree by now, so nothing but data need travel.
void Agreement::exchange_finished_parts(Phase& phase) {
  const auto at = [&](std::size_t place) {
    return result_ + bytes_of(Value::finished, phase.part(place).begin);
  };
  const auto bytes = [&](std::size_t place) {
    return bytes_of(Value::finished, phase.part(place).count);
  };
  for (Peer& peer : phase.all_peers()) {
    peer.receive = transport::Transfer(transport_.receive(
        peer.rank, tag_, at(peer.place), bytes(peer.place), transport::Sizes::known));
    peer.send =
        transport::Transfer(transport_.send(peer.rank, tag_, at(phase.place), bytes(phase.place)));
  }
}

/// True once everything of the phase has come; what it meant is then done.
bool Agreement::leave(Phase& phase) {
  for (Peer& peer : phase.all_peers()) {
    if (!peer.receive.pending()) continue;
    if (!peer.receive.complete(transport_)) return false;
    progressed_ = true;
    if (phase.kind != Kind::collect) learn(peer.incoming, peer.rank);
  }
  if (data_.count == 0 || conflict_) return true;
  if (phase.kind == Kind::take_value || phase.kind == Kind::exchange) combine(phase);
  if (phase.kind == Kind::take_result) take_result(phase.peer[0]);
  return true;
}

void Agreement::learn(const std::byte* message, Rank sender) {
  if (conflict_) return;
  Header header;
  std::memcpy(&header, message, sizeof header);
  if (header.has_conflict != 0) {
    conflict_.emplace();
    std::memcpy(&*conflict_, message + sizeof header, sizeof *conflict_);
  } else if (header.signature != signature_) {
    conflict_ = Conflict{transport_.rank(), sender, signature_, header.signature};
  }
}

/// Neighbours first, then pairs of them: what a butterfly of exchanges between two would give.
void Agreement::combine(Phase& phase) {
  const Range range = kept(phase, phase.place);
  std::array<std::byte*, kMostPeers + 1> values{};
  std::byte* mine = value_ + bytes_of(Value::partial, range.begin);
  values[phase.place] = mine;
  for (const Peer& peer : phase.all_peers()) values[peer.place] = peer.incoming + sizeof(Header);
  const std::size_t group = phase.peers + 1;
  for (std::size_t span = 1; span < group; span *= 2)
    for (std::size_t left = 0; left < group; left += 2 * span)
      data_.arithmetic.combine(values[left], values[left + span],
                               2 * span == group ? mine : values[left], range.count);
}

void Agreement::take_result(const Peer& peer) {
  finished_ = true;
  if (data_.output != nullptr)
    std::memcpy(data_.output, peer.incoming + sizeof(Header),
                bytes_of(Value::finished, data_.count));
}

/// Finishes what this rank has of the value.
void Agreement::finish() {
  if (std::exchange(finished_, true) || data_.count == 0 || conflict_) return;
  data_.arithmetic.finish(value_ + bytes_of(Value::partial, mine_.begin),
                          result_ + bytes_of(Value::finished, mine_.begin), mine_.count);
}

bool Agreement::all_sent() {
  bool all = true;
  for (Phase& phase : phases_)
    for (Peer& peer : phase.all_peers()) all = peer.send.complete(transport_) && all;
  return all;
}

void Agreement::cancel() {
  for (Phase& phase : phases_)
    for (Peer& peer : phase.all_peers()) {
      peer.receive.cancel(transport_);
      peer.send.cancel(transport_);
    }
  current_ = phases_.size();
}

}  // namespace rondo::collectives
