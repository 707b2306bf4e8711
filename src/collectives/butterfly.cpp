#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "collectives/algorithms.hpp"
#include "collectives/team.hpp"

/// The deterministic algorithms: for each element one value, whatever the topology, the blocks, the
/// collective and the root. Within a node the ranks are folded in rank order; the nodes, sorted by
/// lowest rank, are combined by the butterfly of Team.
///
///   2 nodes of 3 and 2 ranks, hence 2 lanes and 2 slices of the message:
///
///           node A     node B
///   lane 0  0 ←1 ←2    3 ←4     slice 0 is folded by 0 and 3, who then work as a Team;
///   lane 1  1 ←0 ←2    4 ←3     slice 1 is folded by 1 and 4, who then work as a Team.
///              2                2 is beyond the lanes: it only gives and gets.
///
/// L is the number of lanes, ℓ the ranks on this node, m the number of nodes, 2^p ≤ m.
namespace rondo::collectives {

namespace {

// Partial values, results, and parts of a result on their way to whoever wants them don't queue
// behind each other.
constexpr int kPartials = 0;
constexpr int kResults = 1;
constexpr int kDelivery = 2;

template <class T>
auto& get(T& container, int index) {
  return container[static_cast<std::size_t>(index)];
}

/// The nodes in the order of the value, each with its ranks in theirs.
std::vector<std::vector<Rank>> nodes_in_order(const Group& group) {
  std::vector<std::vector<Rank>> nodes;
  std::vector<int> place(static_cast<std::size_t>(group.topology->nodes()), -1);
  for (int i = 0; i < group.size; ++i) {
    const Rank rank = (group.origin + i) % group.size;
    int& node = get(place, group.topology->node_of(rank));
    if (node < 0) {
      node = static_cast<int>(nodes.size());
      nodes.emplace_back();
    }
    get(nodes, node).push_back(rank);
  }
  return nodes;
}

/// How nodes exchange: in halves, for few bytes, or the whole slice of a single lane, for few
/// steps.
enum class Across { halves, whole };

class Butterfly {
 public:
  Butterfly(const Group& group, int blocks, Across across);

  /// Reduces everything. The result is then spread over the cores of each lane's team, or every
  /// core has it whole.
  void reduce();
  /// Finishes the result and gives it to all.
  void share();
  /// Gives the reduced block to `receiver`, still partial.
  void deliver(int block, Rank receiver);

  /// The plan so far. Nothing may be called after it.
  Plan take() { return std::move(plan_); }
  Plan& plan() { return plan_; }

 private:
  using Range = Cores::Range;

  void fold_node();
  void fold_lower_ranks(const Range& mine);
  Rank holder_of(int block, Rank receiver) const;
  Range slice(int lane) const;
  std::vector<Rank> lane_members(int lane) const;
  const std::vector<Rank>& my_node() const { return get(nodes_, node_); }
  /// The lanes of this node's other ranks, starting after this rank so that not all begin alike.
  std::vector<int> other_lanes() const;

  Across across_;
  int lanes_;
  std::vector<std::vector<Rank>> nodes_;
  std::vector<int> node_of_;  // by rank; the place in nodes_
  int node_;
  int lane_;  // this rank's place in its node; a lane if less than lanes_
  Plan plan_;
  std::optional<Team> team_;
};

Butterfly::Butterfly(const Group& group, int blocks, Across across)
    : across_(across),
      lanes_(across == Across::whole ? 1 : group.topology->lanes()),
      nodes_(nodes_in_order(group)),
      node_of_(static_cast<std::size_t>(group.size)),
      plan_(group.rank, group.size, blocks) {
  for (int node = 0; node < std::ssize(nodes_); ++node)
    for (const Rank rank : get(nodes_, node)) get(node_of_, rank) = node;
  node_ = get(node_of_, group.rank);
  const auto me = std::find(my_node().begin(), my_node().end(), group.rank);
  lane_ = static_cast<int>(me - my_node().begin());
  if (lane_ < lanes_) team_.emplace(plan_, lane_members(lane_), slice(lane_));
}

void Butterfly::reduce() {
  fold_node();
  if (!team_) return;
  team_->fold_in();
  if (across_ == Across::halves)
    team_->halve();
  else
    team_->double_up();
}

/// Every rank gives each lane its slice; a lane's rank folds what it has and gets, in rank order.
void Butterfly::fold_node() {
  for (const int lane : other_lanes()) {
    if (lane >= lanes_) continue;
    const Range theirs = slice(lane);
    plan_.send({get(my_node(), lane), theirs.first, theirs.count}, Action::reduce, kPartials);
  }
  if (!team_) return;
  const Range mine = slice(lane_);
  fold_lower_ranks(mine);
  for (int higher = lane_ + 1; higher < std::ssize(my_node()); ++higher)
    plan_.receive({get(my_node(), higher), mine.first, mine.count}, Action::reduce, kPartials);
}

/// Two or more lower ranks are folded among themselves first, in scratch: they come before this
/// rank's own value.
void Butterfly::fold_lower_ranks(const Range& mine) {
  if (lane_ == 0) return;
  if (lane_ == 1) {
    plan_.receive({get(my_node(), 0), mine.first, mine.count}, Action::reduce, kPartials);
    return;
  }
  const Place own{Space::output, mine.first, mine.count};
  const Place lower{Space::scratch, 0, mine.count};
  for (int block = mine.first; block < mine.first + mine.count; ++block) plan_.add_scratch(block);
  plan_.add(
      {.kind = StepKind::copy, .source = {Space::input, own.first, own.count}, .target = own});
  plan_.add({.kind = StepKind::receive, .peer = get(my_node(), 0), .target = lower});
  for (int rank = 1; rank < lane_; ++rank)
    plan_.add({.kind = StepKind::receive_reduce,
               .peer = get(my_node(), rank),
               .source = lower,
               .target = lower});
  plan_.add({.kind = StepKind::reduce, .source = lower, .target = own});
}

void Butterfly::share() {
  if (team_) {
    if (across_ == Across::halves) team_->collect();
    team_->fold_out();
    const Range mine = slice(lane_);
    for (const int lane : other_lanes())
      plan_.send({get(my_node(), lane), mine.first, mine.count}, Action::copy, kResults);
  }
  for (const int lane : other_lanes()) {
    if (lane >= lanes_) continue;
    const Range theirs = slice(lane);
    plan_.receive({get(my_node(), lane), theirs.first, theirs.count}, Action::copy, kResults);
  }
  plan_.complete(0, plan_.blocks());
}

void Butterfly::deliver(int block, Rank receiver) {
  const Rank holder = holder_of(block, receiver);
  if (holder == receiver) return;
  if (plan_.rank() == holder) plan_.send({receiver, block}, Action::reduce, kDelivery);
  if (plan_.rank() == receiver)
    plan_.add({.kind = StepKind::receive,
               .channel = kDelivery,
               .peer = holder,
               .target = {Space::output, block, 1}});
}

/// Who has a block after reduce(); of several, who is on the receiver's node or stands in for it.
Rank Butterfly::holder_of(int block, Rank receiver) const {
  const Cores cores(static_cast<int>(nodes_.size()));
  const auto lane = static_cast<int>((std::int64_t{block + 1} * lanes_ - 1) / plan_.blocks());
  const int core = across_ == Across::halves ? cores.core_left_with(slice(lane), block)
                                             : cores.core_of(get(node_of_, receiver));
  return get(get(nodes_, cores.member_of(core)), lane);
}

/// The blocks of a lane: as many for each, but for one.
Butterfly::Range Butterfly::slice(int lane) const {
  const auto begin_of = [&](int which) {
    return static_cast<int>(std::int64_t{plan_.blocks()} * which / lanes_);
  };
  return {begin_of(lane), begin_of(lane + 1) - begin_of(lane)};
}

std::vector<Rank> Butterfly::lane_members(int lane) const {
  std::vector<Rank> members;
  members.reserve(nodes_.size());
  for (const std::vector<Rank>& node : nodes_) members.push_back(get(node, lane));
  return members;
}

std::vector<int> Butterfly::other_lanes() const {
  const int ranks = static_cast<int>(my_node().size());
  std::vector<int> lanes;
  for (int distance = 1; distance < ranks; ++distance) lanes.push_back((lane_ + distance) % ranks);
  return lanes;
}

Plan all_reduced(const Group& group, int blocks, Across across) {
  Butterfly butterfly(group, blocks, across);
  butterfly.reduce();
  butterfly.share();
  return butterfly.take();
}

Plan reduced_to_root(const Group& group, int blocks, Across across) {
  Butterfly butterfly(group, blocks, across);
  butterfly.reduce();
  for (int block = 0; block < blocks; ++block) butterfly.deliver(block, 0);
  if (group.rank == 0) butterfly.plan().complete(0, blocks);
  return butterfly.take();
}

Plan reduced_and_scattered(const Group& group, Across across) {
  Butterfly butterfly(group, group.size, across);
  butterfly.reduce();
  for (int block = 0; block < group.size; ++block) butterfly.deliver(block, block);
  butterfly.plan().complete(group.rank, 1);
  return butterfly.take();
}

}  // namespace

int butterfly_blocks(const Group& group) {
  return group.topology->lanes() * Cores(group.topology->nodes()).count();
}

/// Fold within the nodes, halve and collect across them, share within them.
///
/// Steps 2p + 2, or 2p + 4. A rank in a lane sends about M within its node twice, and
/// 2(1-1/2^p)·M/L across nodes. For medium and large messages.
Plan butterfly_allreduce(const Group& group) {
  return all_reduced(group, butterfly_blocks(group), Across::halves);
}

/// The same up to the halves, which go to the root. Steps p + 2, or p + 3.
Plan butterfly_reduce(const Group& group) {
  return reduced_to_root(group, butterfly_blocks(group), Across::halves);
}

/// The same up to the halves, which go to whom they belong. Steps p + 2, or p + 3.
Plan butterfly_reduce_scatter(const Group& group) {
  return reduced_and_scattered(group, Across::halves);
}

/// One rank of each node folds it and works by recursive doubling across nodes.
///
/// Steps p + 2, or p + 4. The first rank of a node sends p·M across nodes and (ℓ-1)·M within its
/// own, the others M. For small messages.
Plan butterfly_small_allreduce(const Group& group) { return all_reduced(group, 1, Across::whole); }

/// The same; the root gets the result from the first rank of its node. Steps p + 2, or p + 3.
Plan butterfly_small_reduce(const Group& group) { return reduced_to_root(group, 1, Across::whole); }

/// The same; each rank gets its block from the first of its node. Steps p + 2, or p + 3.
Plan butterfly_small_reduce_scatter(const Group& group) {
  return reduced_and_scattered(group, Across::whole);
}

}  // namespace rondo::collectives
