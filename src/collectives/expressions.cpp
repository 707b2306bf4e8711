#include "collectives/expressions.hpp"

#include <fmt/core.h>

namespace rondo::collectives {

Expressions::Id Expressions::leaf(Rank rank) {
  Node node{.left = -1, .right = -1, .lowest = rank, .count = 1, .ranks = {}};
  node.ranks.resize(static_cast<std::size_t>(size_));
  node.ranks[static_cast<std::size_t>(rank)] = true;
  return intern(-1, rank, std::move(node));
}

std::optional<Expressions::Id> Expressions::combine(Id left, Id right) {
  if (node(right).lowest < node(left).lowest) std::swap(left, right);
  if (const auto known = known_.find({left, right}); known != known_.end()) return known->second;
  Node sum = node(left);
  const Node& other = node(right);
  for (std::size_t rank = 0; rank < sum.ranks.size(); ++rank) {
    if (sum.ranks[rank] && other.ranks[rank]) return std::nullopt;
    sum.ranks[rank] = sum.ranks[rank] || other.ranks[rank];
  }
  sum.left = left;
  sum.right = right;
  sum.count += other.count;
  return intern(left, right, std::move(sum));
}

Expressions::Id Expressions::intern(Id left, Id right, Node node) {
  const auto [entry, is_new] = known_.try_emplace({left, right}, static_cast<Id>(nodes_.size()));
  if (is_new) nodes_.push_back(std::move(node));
  return entry->second;
}

bool Expressions::is_complete(Id id) const { return node(id).count == size_; }

std::string Expressions::text(Id id) const {
  const Node& what = node(id);
  if (what.left < 0) return fmt::format("{}", what.lowest);
  return fmt::format("({}+{})", text(what.left), text(what.right));
}

}  // namespace rondo::collectives
