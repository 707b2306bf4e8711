#include "plan_table.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "collectives/layout.hpp"
#include "collectives/pieces.hpp"

namespace rondo::tools {

using collectives::Layout;
using collectives::Place;
using collectives::Plan;
using collectives::Space;
using collectives::Step;
using collectives::StepKind;

namespace {

std::string blocks_text(const Plan& plan, const Place& place) {
  return fmt::format("{} {}", place.count == 1 ? "block" : "blocks", label_of(plan, place));
}

std::string computed_text(const Plan& plan, const Step& step) {
  constexpr std::array<std::string_view, 3> kSpaces{"input", "output", "scratch"};
  const std::string blocks = blocks_text(plan, step.source);
  const std::string_view source = kSpaces[static_cast<std::size_t>(step.source.space)];
  const std::string_view target = kSpaces[static_cast<std::size_t>(step.target.space)];
  switch (step.kind) {
    case StepKind::copy:
      return fmt::format("copy {} from {} to {}", blocks, source, target);
    case StepKind::reduce:
      return fmt::format("reduce {} from {} into {}", blocks, source, target);
    default:
      return fmt::format("finish {}", blocks);
  }
}

std::string sent_text(const Plan& plan, const Step& step) {
  return fmt::format("{} → rank {}", blocks_text(plan, step.source), step.peer);
}

std::string received_text(const Plan& plan, const Step& step) {
  const bool reduced = step.kind == StepKind::receive_reduce;
  const bool relayed = step.target.space == Space::scratch;
  return fmt::format("{} ← rank {}{}{}", blocks_text(plan, step.target), step.peer,
                     reduced ? ", reduced" : "", relayed ? ", in scratch" : "");
}

/// What a rank does in one of the view's steps.
struct Row {
  std::string sends;
  std::string receives;
  std::vector<std::string> then_computes;
};

/// In which step each message of a rank is, by the number of its plan step; 0 for what has none.
std::vector<int> message_steps(const PlanView& view, Rank rank) {
  std::vector<int> steps(view.plan(rank).steps().size(), 0);
  for (const auto& message : view.messages) {
    const auto end = static_cast<int>(message.end);
    if (message.from == rank) steps[static_cast<std::size_t>(message.send_step)] = end;
    if (message.to == rank) steps[static_cast<std::size_t>(message.receive_step)] = end;
  }
  return steps;
}

/// The rows by step; row 0 has what is computed before anything was received. A value that came
/// early is reduced only when those before it are, so what is computed from it may be rows below.
std::vector<Row> rows_of(const PlanView& view, Rank rank) {
  const Plan& plan = view.plan(rank);
  const std::vector<int> messages = message_steps(view, rank);
  std::vector<int> done = messages;
  // With one element a block, a step is one piece.
  const auto layout = Layout::even(static_cast<std::size_t>(plan.blocks()), plan.blocks());
  const auto pieces = cut(plan, layout, {});
  std::vector<Row> rows(static_cast<std::size_t>(view.steps()) + 1);
  for (std::size_t index = 0; index < pieces.size(); ++index) {
    for (const int earlier : pieces[index].waits_for)
      done[index] = std::max(done[index], done[static_cast<std::size_t>(earlier)]);
    const Step& step = plan.steps()[index];
    if (step.peer < 0)
      rows[static_cast<std::size_t>(done[index])].then_computes.push_back(
          computed_text(plan, step));
    else if (step.kind == StepKind::send)
      rows[static_cast<std::size_t>(messages[index])].sends = sent_text(plan, step);
    else
      rows[static_cast<std::size_t>(messages[index])].receives = received_text(plan, step);
  }
  return rows;
}

}  // namespace

std::string table_of(const PlanView& view, Rank rank) {
  constexpr int kColumn = 28;
  std::string table =
      fmt::format("rank {}\n  step  {:<{}}{}\n", rank, "sends", kColumn, "receives");
  const std::vector<Row> rows = rows_of(view, rank);
  for (std::size_t step = 0; step < rows.size(); ++step) {
    const Row& row = rows[step];
    if (!row.receives.empty())
      table += fmt::format("  {:>4}  {:<{}}{}\n", step, row.sends, kColumn, row.receives);
    else if (!row.sends.empty())
      table += fmt::format("  {:>4}  {}\n", step, row.sends);
    for (const std::string& computed : row.then_computes)
      table += fmt::format("        {}\n", computed);
  }
  return table;
}

}  // namespace rondo::tools
