#include <rondo/train/metrics_file.hpp>

#include <filesystem>
#include <fstream>
#include <string_view>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <rondo/error.hpp>
#include <rondo/train/agree.hpp>

#include "core/output_file.hpp"

namespace rondo::train {
namespace {

std::uint64_t epoch_of(const std::string& line, const std::string& path) {
  try {
    return nlohmann::json::parse(line).at("epoch").get<std::uint64_t>();
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorCode::corrupt_file,
                fmt::format("'{}' has a line that is no epoch's metrics; name another file", path));
  }
}

/// Drops what an interrupted run wrote after its last checkpoint, a torn last line included.
void keep_epochs(const std::string& path, std::uint64_t epochs) {
  std::ifstream file(path, std::ios::binary);
  std::string kept;
  for (std::string line; std::getline(file, line) && !file.eof();)
    if (epoch_of(line, path) <= epochs) kept += line + '\n';
  const std::string_view pieces[] = {kept};
  core::replace_file(path, pieces);
}

}  // namespace

MetricsFile::MetricsFile(Communicator& communicator, std::string path, std::uint64_t epochs_done)
    : communicator_(communicator) {
  agree(communicator, [&] {
    if (communicator.rank() != 0 || path.empty()) return;
    const bool resume = epochs_done > 0;
    if (resume && std::filesystem::is_regular_file(path)) keep_epochs(path, epochs_done);
    const auto mode = resume ? core::OutputFile::Mode::append : core::OutputFile::Mode::replace;
    file_ = std::make_unique<core::OutputFile>(path, mode);
  });
}

MetricsFile::~MetricsFile() = default;

void MetricsFile::write(const EpochRecord& record) {
  agree(communicator_, [&] {
    if (!file_) return;
    nlohmann::ordered_json line;
    line["epoch"] = record.epoch;
    line["step"] = record.step;
    line["loss"] = record.loss;
    line["lr"] = record.learning_rate;
    line["samples_per_second"] = record.samples_per_second;
    line["communication_seconds"] = record.times.communication;
    line["exposed_seconds"] = record.times.exposed;
    line["overlap"] = record.times.overlap();
    file_->write(line.dump() + '\n');
  });
}

}  // namespace rondo::train
