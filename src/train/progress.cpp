#include <rondo/train/progress.hpp>

#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include <fmt/core.h>

namespace rondo::train {
namespace {

constexpr std::chrono::milliseconds kBetweenDraws{100};
constexpr std::size_t kBarWidth = 24;
constexpr const char* kEraseLine = "\r\x1b[2K";

bool parent_writes_to_terminal() {
  std::error_code error;
  const auto target =
      std::filesystem::read_symlink(fmt::format("/proc/{}/fd/1", getppid()), error).string();
  return target.starts_with("/dev/pts/") || target.starts_with("/dev/tty");
}

std::string draw_bar(double fraction) {
  const auto full = static_cast<std::size_t>(fraction * kBarWidth);
  return std::string(full, '#') + std::string(kBarWidth - full, '.');
}

}  // namespace

double Stopwatch::rate() const {
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start_;
  return seconds.count() > 0 ? static_cast<double>(samples_) / seconds.count() : 0.0;
}

Progress::Style Progress::detect_style() {
  const bool under_open_mpi = std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr;
  const bool terminal =
      isatty(STDOUT_FILENO) == 1 && (!under_open_mpi || parent_writes_to_terminal());
  return terminal ? Style::bar : Style::lines;
}

Progress::Progress(Style style, std::uint64_t epochs, std::uint64_t steps_per_epoch,
                   std::string counted)
    : style_(style),
      epochs_(epochs),
      steps_per_epoch_(steps_per_epoch),
      counted_(std::move(counted)) {}

void Progress::step(std::uint64_t epoch, std::uint64_t step, double loss, double per_second) {
  const auto now = std::chrono::steady_clock::now();
  if (style_ != Style::bar || now - last_drawn_ < kBetweenDraws) return;
  last_drawn_ = now;
  const double fraction = static_cast<double>(step) / static_cast<double>(steps_per_epoch_);
  fmt::print("{}epoch {}/{} [{}] loss {:.6f}  {:.0f} {}/s", kEraseLine, epoch, epochs_,
             draw_bar(fraction), loss, per_second, counted_);
  std::fflush(stdout);
}

void Progress::epoch(std::uint64_t epoch, double loss, double learning_rate, double per_second) {
  if (style_ == Style::silent) return;
  fmt::print("{}epoch {}/{}  loss {:.6f}  lr {:.3g}  {:.0f} {}/s\n",
             style_ == Style::bar ? kEraseLine : "", epoch, epochs_, loss, learning_rate,
             per_second, counted_);
  std::fflush(stdout);
}

}  // namespace rondo::train
