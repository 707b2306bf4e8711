#pragma once

#include <string>
#include <string_view>

#include "plan_view.hpp"

namespace rondo::tools {

/// The plan as an SVG document: ranks down, steps across, an arrow for each message with the blocks
/// it carries, in one colour where they are reduced and in another where they are copied. `caption`
/// stands below the title.
std::string drawing_of(const PlanView& view, std::string_view caption);

/// Text that may stand in XML, between tags and in attributes.
std::string xml_escaped(std::string_view text);

}  // namespace rondo::tools
