#include "collectives/simulate.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "collectives/contract.hpp"
#include "collectives/replay.hpp"

namespace rondo::collectives {

namespace {

template <class T>
auto& get(T& container, int index) {
  return container[static_cast<std::size_t>(index)];
}

/// A message that both sides are ready for. The one that has been ready longest goes first; of
/// several, the one that its sender's plan has first.
struct Transfer {
  double ready;
  Event event;

  auto key() const {
    return std::tuple(ready, event.sender.piece, event.sender.rank, event.receiver.piece);
  }
  friend bool operator<(const Transfer& a, const Transfer& b) { return a.key() < b.key(); }
};

struct Port {
  bool busy = false;
  std::set<Transfer> waiting;
};

struct Node {
  Port send;
  Port receive;
  double processor_free = 0;
};

struct Completion {
  enum class What { done, ports_free };

  What what;
  double begin;
  double end;
  Event event;

  friend bool operator>(const Completion& a, const Completion& b) { return a.end > b.end; }
};

class Simulator {
 public:
  Simulator(std::vector<Plan> plans, const Layout& layout, const Scenario& scenario, bool separate)
      : cost_(scenario.cost),
        nodes_(plans.size()),
        replay_(std::move(plans), layout, {scenario.segment, separate}, scenario.window) {}

  Outcome run() {
    accept_events();
    while (!completions_.empty()) {
      now_ = completions_.top().end;
      while (!completions_.empty() && completions_.top().end == now_) complete_next();
      accept_events();
    }
    return {now_, std::move(messages_)};
  }

 private:
  void complete_next() {
    const auto [what, begin, end, event] = completions_.top();
    completions_.pop();
    if (what == Completion::What::ports_free) return free_ports(event);
    if (event.kind == Event::Kind::message) {
      messages_.push_back({event.sender.rank, event.receiver.rank, replay_.piece(event.sender).step,
                           replay_.piece(event.receiver).step, begin, end});
      if (cost_.wire == 0) free_ports(event);
    }
    replay_.done(event);
  }

  void free_ports(const Event& event) {
    get(nodes_, event.sender.rank).send.busy = false;
    get(nodes_, event.receiver.rank).receive.busy = false;
    freed_.push_back(event.sender.rank);
    freed_.push_back(event.receiver.rank);
  }

  /// Takes over what has become possible, until only time can help.
  void accept_events() {
    while (const auto event = replay_.next()) {
      if (event->kind == Event::Kind::message)
        enqueue(*event);
      else
        compute(*event);
    }
    start_transfers();
  }

  void enqueue(const Event& event) {
    const Transfer transfer{now_, event};
    get(nodes_, event.sender.rank).send.waiting.insert(transfer);
    get(nodes_, event.receiver.rank).receive.waiting.insert(transfer);
    freed_.push_back(event.sender.rank);
  }

  void compute(const Event& event) {
    const StepKind kind = replay_.step(event.receiver).kind;
    if (kind != StepKind::reduce && kind != StepKind::receive_reduce) {
      replay_.done(event);
      return;
    }
    double& free = get(nodes_, event.receiver.rank).processor_free;
    const auto bytes = static_cast<double>(replay_.piece(event.receiver).target.size());
    const double begin = std::max(free, now_);
    free = begin + cost_.gamma * bytes;
    completions_.push({Completion::What::done, begin, free, event});
  }

  /// Starts what can start at the ports where something has changed.
  void start_transfers() {
    for (const Rank rank : freed_) {
      start_one(get(nodes_, rank).send, [&](const Event& event) -> Port& {
        return get(nodes_, event.receiver.rank).receive;
      });
      start_one(get(nodes_, rank).receive,
                [&](const Event& event) -> Port& { return get(nodes_, event.sender.rank).send; });
    }
    freed_.clear();
  }

  template <class Other>
  void start_one(Port& port, Other other) {
    if (port.busy) return;
    const auto free = std::find_if(port.waiting.begin(), port.waiting.end(),
                                   [&](const Transfer& t) { return !other(t.event).busy; });
    if (free == port.waiting.end()) return;
    const Transfer transfer = *free;
    Port& peer = other(transfer.event);
    port.busy = peer.busy = true;
    port.waiting.erase(transfer);
    peer.waiting.erase(transfer);
    const auto bytes = static_cast<double>(replay_.piece(transfer.event.sender).source.size());
    const double end = now_ + cost_.alpha + cost_.beta * bytes;
    if (cost_.wire > 0)
      completions_.push({Completion::What::ports_free, now_, end - cost_.wire, transfer.event});
    completions_.push({Completion::What::done, now_, end, transfer.event});
  }

  CostModel cost_;
  std::vector<Node> nodes_;
  Replay replay_;
  double now_ = 0;
  std::vector<Message> messages_;
  std::vector<Rank> freed_;  // ranks at whose ports something may start
  std::priority_queue<Completion, std::vector<Completion>, std::greater<>> completions_;
};

}  // namespace

Outcome simulate(const Algorithm& algorithm, const transport::Topology& topology,
                 const Scenario& scenario) {
  std::vector<Plan> plans;
  Group group{0, topology.size(), &topology};
  for (; group.rank < group.size; ++group.rank) plans.push_back(algorithm.plan(group));
  group.rank = 0;
  const Layout layout = Layout::even(scenario.bytes, algorithm.blocks(group));
  const bool separate = Contract(algorithm.collective).separate();
  return Simulator(std::move(plans), layout, scenario, separate).run();
}

}  // namespace rondo::collectives
