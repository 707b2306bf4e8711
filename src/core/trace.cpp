#include "core/trace.hpp"

#include <atomic>
#include <exception>
#include <mutex>
#include <utility>

namespace rondo::core {

namespace {

std::atomic<bool> active = false;
std::mutex mutex;

/// Never destroyed, since a thread may still trace when the process ends.
Trace& recorded() {
  static auto& trace = *new Trace;
  return trace;
}

}  // namespace

void start_trace() {
  recorded();
  active = true;
}

bool tracing() noexcept { return active.load(std::memory_order_relaxed); }

void trace(const TraceEvent& event) noexcept {
  if (!tracing()) return;
  const std::lock_guard lock(mutex);
  Trace& trace = recorded();
  if (trace.events.size() < kMostTraceEvents) {
    try {
      trace.events.push_back(event);
      return;
    } catch (const std::exception&) {  // no memory
    }
  }
  ++trace.lost;
}

Trace end_trace() {
  active = false;
  const std::lock_guard lock(mutex);
  return std::exchange(recorded(), {});
}

}  // namespace rondo::core
