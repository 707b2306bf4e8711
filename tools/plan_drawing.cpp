#include "plan_drawing.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <utility>

#include <fmt/core.h>
#include <fmt/format.h>

namespace rondo::tools {

using collectives::Message;
using collectives::StepKind;

namespace {

// Pixels.
constexpr double kMargin = 28;
constexpr double kHeader = 112;  // title, caption, legend, step numbers
constexpr double kRankColumn = 92;
constexpr double kStep = 124;
constexpr double kRank = 58;
constexpr double kDot = 4.5;
constexpr double kInset = 16;  // from a step's edge to the dots
constexpr double kCharacter = 6.7;
constexpr double kLegend = 500;

constexpr std::string_view kReduceColour = "#c2410c";
constexpr std::string_view kCopyColour = "#1d4ed8";

constexpr std::string_view kStyle = R"(<style>
  text { font-family: "Helvetica Neue", Helvetica, Arial, "DejaVu Sans", sans-serif; fill: #1f2937; }
  .title { font-size: 17px; font-weight: 600; }
  .small { font-size: 12px; fill: #6b7280; }
  .rank { font-size: 13px; font-weight: 600; }
  .block { font-size: 11px; text-anchor: middle; }
  .middle { text-anchor: middle; }
</style>
)";

/// Of UTF-8 text.
double characters_in(std::string_view text) {
  return static_cast<double>(
      std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xC0) != 0x80; }));
}

struct Point {
  double x;
  double y;
};

class Drawing {
 public:
  Drawing(const PlanView& view, std::string_view caption) : view_(view), caption_(caption) {
    open();
    draw_nodes();
    draw_grid();
    for (const Message& message : view.messages) draw_arrow(message);
    // Labels come last, so that no arrow crosses one.
    for (const Message& message : view.messages) draw_label(message);
    svg_ += "</svg>\n";
  }

  std::string take() { return std::move(svg_); }

 private:
  template <class... Values>
  void put(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(svg_), format, std::forward<Values>(values)...);
  }

  double width() const {
    const double plan = kRankColumn + kStep * view_.steps();
    return 2 * kMargin + std::max({plan, kCharacter * characters_in(caption_), kLegend});
  }
  double height() const { return kHeader + kRank * view_.topology.size() + kMargin; }
  double x_of(int step) const { return kMargin + kRankColumn + kStep * step; }
  double y_of(Rank rank) const { return kHeader + kRank * (rank + 0.5); }

  void open() {
    put(R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0:.0f}" height="{1:.0f}" )"
        R"(viewBox="0 0 {0:.0f} {1:.0f}">)",
        width(), height());
    svg_ += "\n";
    svg_ += kStyle;
    put("<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
    put("<text class=\"title\" x=\"{}\" y=\"36\">{}</text>\n", kMargin,
        xml_escaped(title_of(view_)));
    put("<text class=\"small\" x=\"{}\" y=\"56\">{}</text>\n", kMargin, xml_escaped(caption_));
    draw_legend(kMargin, "reduced with what the receiver has", kReduceColour);
    draw_legend(kMargin + 284, "copied", kCopyColour);
    put("<text class=\"small\" x=\"{}\" y=\"78\">numbers are blocks</text>\n", kMargin + 392);
  }

  void draw_legend(double x, std::string_view text, std::string_view colour) {
    draw_line({x, 74}, {x + 22, 74}, colour);
    put("<text class=\"small\" x=\"{}\" y=\"78\">{}</text>\n", x + 34, text);
  }

  /// A band behind the ranks of every other node, where nodes have neighbours in the drawing.
  void draw_nodes() {
    if (view_.topology.nodes() == view_.topology.size()) return;
    for (Rank rank = 0; rank < view_.topology.size(); ++rank) {
      const int node = view_.topology.node_of(rank);
      if (node % 2 == 0)
        put("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"#f3f4f6\"/>\n", kMargin / 2,
            y_of(rank) - kRank / 2, width() - kMargin, kRank);
      put("<text class=\"small\" x=\"{}\" y=\"{}\">node {}</text>\n", kMargin, y_of(rank) + 18,
          node);
    }
  }

  void draw_grid() {
    const double top = kHeader - 4;
    const double bottom = kHeader + kRank * view_.topology.size();
    for (int step = 0; step < view_.steps(); ++step) {
      put("<text class=\"small middle\" x=\"{}\" y=\"{}\">step {}</text>\n", x_of(step) + kStep / 2,
          top - 4, step + 1);
      put("<line x1=\"{0}\" y1=\"{1}\" x2=\"{0}\" y2=\"{2}\" stroke=\"#e5e7eb\"/>\n", x_of(step),
          top, bottom);
    }
    for (Rank rank = 0; rank < view_.topology.size(); ++rank) {
      put("<text class=\"rank\" x=\"{}\" y=\"{}\">rank {}</text>\n", kMargin, y_of(rank) + 4, rank);
      put("<line x1=\"{0}\" y1=\"{1}\" x2=\"{2}\" y2=\"{1}\" stroke=\"#d1d5db\"/>\n", x_of(0),
          y_of(rank), x_of(view_.steps()));
    }
  }

  Point tail_of(const Message& message) const {
    return {x_of(static_cast<int>(message.begin)) + kInset, y_of(message.from)};
  }
  Point head_of(const Message& message) const {
    return {x_of(static_cast<int>(message.end)) - kInset, y_of(message.to)};
  }
  std::string_view colour_of(const Message& message) const {
    const auto& step = view_.step(message.to, message.receive_step);
    return step.kind == StepKind::receive_reduce ? kReduceColour : kCopyColour;
  }

  void draw_arrow(const Message& message) {
    const Point tail = tail_of(message);
    put("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{}\"/>\n", tail.x, tail.y, kDot,
        colour_of(message));
    draw_line(tail, head_of(message), colour_of(message));
  }

  /// A line with an arrow's head.
  void draw_line(Point from, Point to, std::string_view colour) {
    const double length = std::hypot(to.x - from.x, to.y - from.y);
    const Point along{(to.x - from.x) / length, (to.y - from.y) / length};
    const Point base{to.x - 9 * along.x, to.y - 9 * along.y};
    put("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" "
        "stroke-width=\"1.6\"/>\n",
        from.x, from.y, base.x, base.y, colour);
    put("<polygon points=\"{:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f}\" fill=\"{}\"/>\n", to.x, to.y,
        base.x - 4 * along.y, base.y + 4 * along.x, base.x + 4 * along.y, base.y - 4 * along.x,
        colour);
  }

  /// The blocks, near the sender, where arrows have not met yet.
  void draw_label(const Message& message) {
    const std::string label =
        label_of(view_.plan(message.from), view_.step(message.from, message.send_step).source);
    const Point tail = tail_of(message);
    const Point head = head_of(message);
    const double drop = head.y - tail.y;
    const double way = std::min(0.3, 17 / std::abs(drop));
    const Point at{tail.x + way * (head.x - tail.x), tail.y + way * drop};
    const double box = kCharacter * characters_in(label) + 9;
    put("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"16\" rx=\"8\" fill=\"#ffffff\" "
        "stroke=\"{}\"/>\n",
        at.x - box / 2, at.y - 8, box, colour_of(message));
    put("<text class=\"block\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", at.x, at.y + 4,
        xml_escaped(label));
  }

  const PlanView& view_;
  std::string_view caption_;
  std::string svg_;
};

}  // namespace

std::string drawing_of(const PlanView& view, std::string_view caption) {
  return Drawing(view, caption).take();
}

std::string xml_escaped(std::string_view text) {
  std::string escaped;
  for (const char character : text) {
    switch (character) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&apos;";
        break;
      default:
        escaped += character;
    }
  }
  return escaped;
}

}  // namespace rondo::tools
