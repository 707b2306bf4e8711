#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace rondo::core {

/// Where an event is drawn.
enum class Track : std::uint8_t { compute, blocking, pending_0, pending_1 };
inline constexpr int kTracks = 4;

/// Something that took its time on this rank.
struct TraceEvent {
  using Clock = std::chrono::steady_clock;

  std::string_view name;  // of memory that is never freed
  Track track = Track::compute;
  Clock::time_point start{};
  Clock::time_point end{};
  std::uint64_t bytes = 0;
};

/// The process's events, from start_trace() to end_trace(). Any thread may call these; before
/// start_trace() trace() costs a look at a flag.
inline constexpr std::size_t kMostTraceEvents = std::size_t{1} << 17;
void start_trace();
bool tracing() noexcept;
/// Beyond kMostTraceEvents, or when memory is short, it is counted only.
void trace(const TraceEvent& event) noexcept;

struct Trace {
  std::vector<TraceEvent> events;
  std::size_t lost = 0;  // events for which there was no room
};
Trace end_trace();

}  // namespace rondo::core
