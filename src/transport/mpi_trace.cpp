#include "transport/mpi_trace.hpp"

#include <array>
#include <filesystem>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <rondo/error.hpp>

#include "core/log.hpp"
#include "core/narrow.hpp"
#include "core/output_file.hpp"
#include "core/trace.hpp"
#include "transport/mpi_check.hpp"

namespace rondo::transport {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kTag = 1;
constexpr int kRoundTrips = 20;
constexpr std::array<const char*, core::kTracks> kTrackNames{
    "compute", "communication, blocking", "communication", "communication, beside"};

long long now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch())
      .count();
}

/// Of Chrome's trace event format: names a rank or one of its tracks.
std::string name_event(const char* what, int rank, int track, const std::string& name) {
  return nlohmann::json{
      {"name", what}, {"ph", "M"}, {"pid", rank}, {"tid", track}, {"args", {{"name", name}}}}
      .dump();
}

/// The file, which is replaced as a whole by close(). Errors are logged, and end it.
class TraceFile {
 public:
  explicit TraceFile(std::string path) : path_(std::move(path)) {
    attempt([&] { file_.emplace(path_ + ".tmp", core::OutputFile::Mode::replace); });
  }
  void write(std::string_view text) {
    attempt([&] { file_->write(text); });
  }
  void close() {
    attempt([&] {
      file_->sync();
      file_->close();
      std::filesystem::rename(path_ + ".tmp", path_);
    });
  }

 private:
  template <class Action>
  void attempt(Action action) {
    if (failed_) return;
    try {
      action();
    } catch (const std::exception& error) {
      failed_ = true;
      core::log(core::LogLevel::error, fmt::format("no trace is written: {}", error.what()));
    }
  }

  std::string path_;
  std::optional<core::OutputFile> file_;
  bool failed_ = false;
};

}  // namespace

MpiTrace::MpiTrace(MPI_Comm comm, std::string path) : comm_(comm), path_(std::move(path)) {
  check(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
  check(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
  if (rank_ == 0 && !path_.empty()) core::check_replaceable(path_);
  int wanted = path_.empty() ? 0 : 1;
  check(MPI_Bcast(&wanted, 1, MPI_INT, 0, comm_), "MPI_Bcast");
  on_ = wanted != 0;
  if (!on_) return;
  compare_clocks();
  core::start_trace();
}

void MpiTrace::compare_clocks() {
  long long offset = 0;  // of this rank's clock from rank 0's
  if (rank_ == 0) {
    for (int peer = 1; peer < size_; ++peer)
      for (int i = 0; i < kRoundTrips; ++i) {
        check(MPI_Recv(nullptr, 0, MPI_BYTE, peer, kTag, comm_, MPI_STATUS_IGNORE), "MPI_Recv");
        const long long time = now();
        check(MPI_Send(&time, 1, MPI_LONG_LONG, peer, kTag, comm_), "MPI_Send");
      }
  } else {
    long long shortest = std::numeric_limits<long long>::max();
    for (int i = 0; i < kRoundTrips; ++i) {
      long long time = 0;
      const long long start = now();
      check(MPI_Send(nullptr, 0, MPI_BYTE, 0, kTag, comm_), "MPI_Send");
      check(MPI_Recv(&time, 1, MPI_LONG_LONG, 0, kTag, comm_, MPI_STATUS_IGNORE), "MPI_Recv");
      const long long taken = now() - start;
      if (taken >= shortest) continue;
      shortest = taken;
      offset = start + taken / 2 - time;
    }
  }
  long long origin = now();
  check(MPI_Bcast(&origin, 1, MPI_LONG_LONG, 0, comm_), "MPI_Bcast");
  origin_ = origin + offset;
}

double MpiTrace::microseconds(Clock::time_point time) const {
  const auto since_epoch =
      std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
  return static_cast<double>(since_epoch - origin_) * 1e-3;
}

/// Separated by commas.
std::string MpiTrace::events_as_json() const {
  const core::Trace trace = core::end_trace();
  if (trace.lost > 0)
    core::log(core::LogLevel::warning,
              fmt::format("RONDO_TRACE: the last {} events are not in the trace, which holds {} of "
                          "each rank; trace fewer steps",
                          trace.lost, trace.events.size()));
  std::string text = name_event("process_name", rank_, 0, fmt::format("rank {}", rank_));
  for (int track = 0; track < core::kTracks; ++track)
    text += ",\n" +
            name_event("thread_name", rank_, track, kTrackNames[static_cast<std::size_t>(track)]);
  for (const core::TraceEvent& event : trace.events)
    text += ",\n" + nlohmann::json{{"name", event.name},
                                   {"ph", "X"},
                                   {"pid", rank_},
                                   {"tid", static_cast<int>(event.track)},
                                   {"ts", microseconds(event.start)},
                                   {"dur", microseconds(event.end) - microseconds(event.start)},
                                   {"args", {{"bytes", event.bytes}}}}
                        .dump();
  return text;
}

bool MpiTrace::write(Clock::time_point deadline) {
  if (!on_) return true;
  std::string text = events_as_json();
  long long bytes = static_cast<long long>(text.size());
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank_ != 0) {
    check(MPI_Isend(&bytes, 1, MPI_LONG_LONG, 0, kTag, comm_, &request), "MPI_Isend");
    if (!complete_by(request, deadline)) return false;
    check(MPI_Isend(text.data(), core::narrow<int>(bytes), MPI_CHAR, 0, kTag, comm_, &request),
          "MPI_Isend");
    return complete_by(request, deadline);
  }
  TraceFile file(path_);
  file.write("{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n" + text);
  for (int peer = 1; peer < size_; ++peer) {
    check(MPI_Irecv(&bytes, 1, MPI_LONG_LONG, peer, kTag, comm_, &request), "MPI_Irecv");
    if (!complete_by(request, deadline)) return false;
    text.resize(static_cast<std::size_t>(bytes));
    check(MPI_Irecv(text.data(), core::narrow<int>(bytes), MPI_CHAR, peer, kTag, comm_, &request),
          "MPI_Irecv");
    if (!complete_by(request, deadline)) return false;
    file.write(",\n" + text);
  }
  file.write("\n]}\n");
  file.close();
  return true;
}

}  // namespace rondo::transport
