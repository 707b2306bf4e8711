#pragma once

#include <string>

#include "plan_view.hpp"

namespace rondo::tools {

/// What one rank does, as lines of text: step by step, what it sends to whom and receives from
/// whom, and in between what it computes.
std::string table_of(const PlanView& view, Rank rank);

}  // namespace rondo::tools
