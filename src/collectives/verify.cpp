#include "collectives/verify.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

#include <fmt/core.h>

#include "collectives/canonical.hpp"
#include "collectives/contract.hpp"
#include "collectives/expressions.hpp"
#include "collectives/replay.hpp"
#include "collectives/symbolic_memory.hpp"

namespace rondo::collectives {

namespace {

template <class T>
auto& get(T& container, int index) {
  return container[static_cast<std::size_t>(index)];
}

[[noreturn]] void fail(Rank rank, const Step& step, std::string_view what) {
  throw Fault{fmt::format("rank {}: {}: {}", rank, describe(step), what)};
}

// ── Before anything runs ───────────────────────────────────────────────────────────────────────

void check_place(const Plan& plan, const Step& step, const Place& place) {
  const auto blocks =
      place.space == Space::scratch ? std::ssize(plan.scratch()) : std::ptrdiff_t{plan.blocks()};
  if (place.first < 0 || place.count < 1 || place.first + place.count > blocks)
    fail(plan.rank(), step, "no such blocks");
}

void check_steps(const Plan& plan) {
  for (const Step& step : plan.steps()) {
    const bool has_peer = step.kind == StepKind::send || step.is_receive();
    if (step.reads_source()) check_place(plan, step, step.source);
    if (step.writes_target()) check_place(plan, step, step.target);
    if (step.channel >= kChannels) fail(plan.rank(), step, "no such channel");
    if (has_peer && (step.peer < 0 || step.peer >= plan.size() || step.peer == plan.rank()))
      fail(plan.rank(), step, "no such peer");
    if (!has_peer && step.peer >= 0) fail(plan.rank(), step, "has a peer but no message");
    if (step.kind == StepKind::receive_reduce && step.value != Value::partial)
      fail(plan.rank(), step, "only partial values can be reduced");
  }
}

/// The messages of one stream, as its two sides see them.
struct Messages {
  std::vector<const Step*> sent;
  std::vector<const Step*> received;
};

void check_messages(const std::vector<Plan>& plans, bool same_blocks) {
  std::map<std::tuple<Rank, Rank, int>, Messages> streams;
  for (const Plan& plan : plans)
    for (const Step& step : plan.steps()) {
      if (step.kind == StepKind::send)
        streams[{plan.rank(), step.peer, step.channel}].sent.push_back(&step);
      else if (step.is_receive())
        streams[{step.peer, plan.rank(), step.channel}].received.push_back(&step);
    }
  for (const auto& [stream, messages] : streams) {
    const auto [from, to, channel] = stream;
    if (messages.sent.size() != messages.received.size())
      throw Fault{
          fmt::format("rank {} sends {} messages to rank {} on channel {}, which expects {}", from,
                      messages.sent.size(), to, channel, messages.received.size())};
    for (std::size_t i = 0; i < messages.sent.size(); ++i) {
      const Step& sent = *messages.sent[i];
      const Step& received = *messages.received[i];
      const bool same = same_blocks ? get(plans, from).layout_blocks(sent.source) ==
                                          get(plans, to).layout_blocks(received.target)
                                    : sent.source.count == received.target.count;
      if (!same || sent.value != received.value)
        fail(to, received, fmt::format("rank {} does this instead: {}", from, describe(sent)));
    }
  }
}

void check_form(const std::vector<Plan>& plans, const Layout& layout, const Contract& contract) {
  for (Rank rank = 0; rank < std::ssize(plans); ++rank) {
    const Plan& plan = get(plans, rank);
    if (plan.rank() != rank || plan.size() != std::ssize(plans) || plan.blocks() != layout.blocks())
      throw Fault{fmt::format("plan {} is for rank {} of {} with {} blocks", rank, plan.rank(),
                              plan.size(), plan.blocks())};
    check_steps(plan);
  }
  check_messages(plans, !contract.separate());
}

// ── The run ────────────────────────────────────────────────────────────────────────────────────

class Run {
 public:
  Run(const std::vector<Plan>& plans, Collective collective, const Layout& layout,
      const Trial& trial)
      : contract_(collective),
        layout_(layout),
        expressions_(static_cast<int>(plans.size())),
        replay_(plans, layout, {trial.segment, contract_.separate()}, trial.window) {
    for (const Plan& plan : plans)
      memories_.emplace_back(plan, contract_, layout, trial.in_place, expressions_);
    if (trial.canonical != nullptr)
      canonical_ = canonical_value(expressions_, *trial.canonical, trial.origin);
  }

  void to_the_end() {
    while (const auto event = replay_.next()) {
      if (event->kind == Event::Kind::message)
        deliver(event->sender, event->receiver);
      else
        compute(event->receiver);
      replay_.done(*event);
    }
    if (const auto stuck = replay_.first_unfinished())
      fail(stuck->rank, replay_.step(*stuck), "never ends: the ranks are deadlocked");
  }

  void check_results() {
    const int size = static_cast<int>(memories_.size());
    for (Rank rank = 0; rank < size; ++rank)
      for (int block = 0; block < layout_.blocks(); ++block)
        if (contract_.promises(rank, block)) check_block(rank, block);
  }

 private:
  void deliver(PieceOf sender, PieceOf receiver) {
    auto symbols = read(sender);
    if (replay_.step(receiver).kind == StepKind::receive)
      write(receiver, symbols);
    else
      landed_[{receiver.rank, receiver.piece}] = std::move(symbols);
  }

  void compute(PieceOf of) {
    auto symbols = read(of);
    const StepKind kind = replay_.step(of).kind;
    if (kind == StepKind::receive_reduce) {
      const auto landed = landed_.find({of.rank, of.piece});
      combine(of, symbols, landed->second);
      landed_.erase(landed);
    } else if (kind == StepKind::reduce) {
      const auto target = memory(of).read(replay_.piece(of).target, Value::partial);
      combine(of, symbols, target);
    }
    write(of, symbols);
  }

  std::vector<Symbol> read(PieceOf of) try {
    const Step& step = replay_.step(of);
    const Value value = step.kind == StepKind::finish ? Value::partial : step.value;
    return memory(of).read(replay_.piece(of).source, value);
  } catch (const Fault& fault) {
    fail(of.rank, replay_.step(of), fault.what);
  }

  void write(PieceOf of, const std::vector<Symbol>& symbols) try {
    memory(of).write(replay_.piece(of).target, symbols, replay_.step(of).value);
  } catch (const Fault& fault) {
    fail(of.rank, replay_.step(of), fault.what);
  }

  void combine(PieceOf of, std::vector<Symbol>& into, const std::vector<Symbol>& other) {
    for (std::size_t i = 0; i < into.size(); ++i) {
      const auto sum = expressions_.combine(into[i].expression, other[i].expression);
      if (into[i].element != other[i].element)
        fail(of.rank, replay_.step(of), "reduces different elements");
      if (!sum)
        fail(of.rank, replay_.step(of),
             fmt::format("counts a rank twice: {} and {}", expressions_.text(into[i].expression),
                         expressions_.text(other[i].expression)));
      into[i].expression = *sum;
    }
  }

  void check_block(Rank rank, int block) {
    for (std::size_t at = layout_.offset(block); at < layout_.offset(block + 1); ++at) {
      const auto wrong = fault_of(rank, block, at);
      if (!wrong.empty())
        throw Fault{fmt::format("rank {} ends with output[{}] {}", rank, block, wrong)};
    }
  }

  std::string fault_of(Rank rank, int block, std::size_t at) {
    const Symbol& symbol = get(memories_, rank).output(at);
    if (symbol.state != Symbol::State::finished) return "not finished";
    const int times = get(memories_, rank).times_finished(at);
    if (times != 1) return fmt::format("finished {} times", times);
    if (symbol.element != element_wanted(rank, block, at)) return "holding another block";
    const std::string text = expressions_.text(symbol.expression);
    if (!contract_.reduces())
      return symbol.expression == expressions_.leaf(contract_.origin_of(rank, block).rank)
                 ? ""
                 : "holding the block of rank " + text;
    if (!expressions_.is_complete(symbol.expression)) return "lacking ranks: " + text;
    const auto [first, is_first] = computed_.try_emplace(at, symbol.expression);
    if (first->second != symbol.expression) return "other bits than another rank: " + text;
    if (canonical_ && symbol.expression != *canonical_)
      return "another than the canonical value: " + text;
    return "";
  }

  std::size_t element_wanted(Rank rank, int block, std::size_t at) const {
    if (contract_.reduces()) return at;
    return layout_.offset(contract_.origin_of(rank, block).block) + at - layout_.offset(block);
  }

  SymbolicMemory& memory(PieceOf of) { return get(memories_, of.rank); }

  Contract contract_;
  const Layout& layout_;
  Expressions expressions_;
  Replay replay_;
  std::vector<SymbolicMemory> memories_;
  std::optional<Expressions::Id> canonical_;
  std::map<std::pair<Rank, int>, std::vector<Symbol>> landed_;  // to be reduced, by receiver
  std::map<std::size_t, Expressions::Id> computed_;  // what the first rank had, by element
};

}  // namespace

std::optional<std::string> find_fault(const std::vector<Plan>& plans, Collective collective,
                                      const Layout& layout, const Trial& trial) try {
  check_form(plans, layout, Contract(collective));
  Run run(plans, collective, layout, trial);
  run.to_the_end();
  run.check_results();
  return std::nullopt;
} catch (const Fault& fault) {
  return fault.what;
}

std::size_t elements_sent(const Plan& plan, const Layout& layout) {
  const Layout scratch = scratch_layout(plan, layout);
  std::size_t elements = 0;
  for (const Step& step : plan.steps()) {
    if (step.kind != StepKind::send) continue;
    const bool is_scratch = step.source.space == Space::scratch;
    elements += (is_scratch ? scratch : layout).size(step.source.first, step.source.count);
  }
  return elements;
}

}  // namespace rondo::collectives
