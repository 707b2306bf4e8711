#include <rondo/train/checkpoint.hpp>

#include <array>
#include <bit>
#include <exception>
#include <filesystem>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#include <rondo/error.hpp>
#include <rondo/train/agree.hpp>
#include <rondo/train/broadcast.hpp>
#include <rondo/train/compression.hpp>

#include "core/log.hpp"
#include "device/copy.hpp"
#include "train/check_alike.hpp"
#include "train/checkpoint_folder.hpp"
#include "train/manifest.hpp"
#include "train/shards.hpp"

namespace rondo::train {

// ── Saving

Checkpointer::Checkpointer(Communicator& communicator, std::string folder, std::size_t keep)
    : communicator_(communicator), folder_(std::move(folder)), keep_(keep) {
  agree(communicator_, [&] {
    if (keep_ == 0) throw Error(ErrorCode::usage, "at least one checkpoint must be kept");
    if (communicator_.rank() == 0) CheckpointFolder(folder_).prepare();
  });
}

Checkpointer::~Checkpointer() {
  try {
    wait();
  } catch (const std::exception& error) {
    core::log(core::LogLevel::error, fmt::format("a checkpoint was not saved: {}", error.what()));
  }
}

void Checkpointer::wait() {
  if (saving_.valid()) saving_.get();
}

namespace {

/// What ranks have of arrays that are dealt out: residuals are rows, one for each rank.
std::vector<ArrayShard> all_shards(const Communicator& communicator, const TrainingState& state) {
  std::vector<ArrayShard> shards = state.shards;
  for (ArrayView residual : state.residuals) {
    const std::size_t count = residual.count();
    residual.shape.insert(residual.shape.begin(), static_cast<std::size_t>(communicator.size()));
    shards.push_back({residual, {static_cast<std::size_t>(communicator.rank()) * count, count}});
  }
  return shards;
}

/// All arrays of a checkpoint; those that are dealt out have no data yet.
std::vector<ArrayView> all_arrays(const TrainingState& state, std::span<const ArrayShard> shards) {
  std::vector<ArrayView> arrays = state.arrays;
  for (const ArrayShard& shard : shards) {
    arrays.push_back(shard.array);
    arrays.back().data = nullptr;
  }
  return arrays;
}

/// Gives the arrays places in `memory`, one after another, and copies what data they have.
void move_into(std::vector<std::byte>& memory, std::vector<ArrayView>& arrays) {
  std::size_t bytes = 0;
  for (const ArrayView& array : arrays) bytes += array.bytes();
  memory.resize(bytes);
  std::byte* place = memory.data();
  for (ArrayView& array : arrays) {
    if (array.data != nullptr) device::copy(place, array.data, array.bytes());
    array.data = place;
    place += array.bytes();
  }
}

}  // namespace

void Checkpointer::save(const Position& position, const TrainingState& state) {
  const std::vector<ArrayShard> shards = all_shards(communicator_, state);
  std::vector<ArrayView> arrays = all_arrays(state, shards);
  agree(communicator_, [&] {
    wait();
    if (communicator_.rank() == 0) move_into(snapshot_, arrays);
  });
  gather_shards(communicator_, shards, std::span(arrays).subspan(state.arrays.size()));
  if (communicator_.rank() != 0) return;
  const auto save = [folder = CheckpointFolder(folder_),
                     manifest = Manifest{position, state.settings, state.notes, {}},
                     arrays = std::move(arrays),
                     keep = keep_] { folder.save(manifest, arrays, keep); };
  // Where there is no thread to be had, it is done by wait().
  saving_ = std::async(std::launch::async | std::launch::deferred, save);
}

void Checkpointer::finish() {
  agree(communicator_, [&] { wait(); });
}

void check_unused(Communicator& communicator, const std::string& folder,
                  const std::string& resumed) {
  agree(communicator, [&] {
    std::error_code absent;
    if (communicator.rank() != 0 || !std::filesystem::is_directory(folder, absent)) return;
    if (std::filesystem::equivalent(folder, resumed, absent)) return;
    if (CheckpointFolder(folder).numbers().empty()) return;
    throw Error(ErrorCode::usage,
                fmt::format("'{}' holds checkpoints of another training; resume it, or save to "
                            "another folder",
                            folder));
  });
}

// ── Loading

namespace {

/// The newest whole checkpoint; those that are damaged are told of.
CheckpointFolder::Checkpoint load_newest(const CheckpointFolder& folder, const std::string& path) {
  const std::vector<std::uint64_t> numbers = folder.numbers();
  if (numbers.empty())
    throw Error(ErrorCode::system, fmt::format("there is no checkpoint in '{}'", path));
  std::optional<Error> first;
  for (const std::uint64_t number : numbers) {
    try {
      CheckpointFolder::Checkpoint checkpoint = folder.load(number);
      if (first)
        core::log(core::LogLevel::warning,
                  fmt::format("{}; going on from the checkpoint before it, '{}', of step {}",
                              first->message(), folder.manifest_path(number),
                              checkpoint.manifest.position.step));
      return checkpoint;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::corrupt_file) throw;
      if (!first) first = error;
    }
  }
  throw Error(*first);
}

std::string describe(const Settings& settings, std::span<const ArrayView> arrays) {
  std::string text = describe(arrays);
  for (const auto& [name, value] : settings) text += fmt::format("{}={}; ", name, value);
  return text;
}

/// Brings the saved rows of a residual to as many as there are ranks now.
class Residual {
 public:
  /// `array` as it would be now; in `file`, it may have another number of rows.
  Residual(ArrayView& array, const SafetensorsFile& file) : array_(array), rows_(array.shape[0]) {
    const auto found = file.arrays().find(array.name);
    if (found != file.arrays().end() && found->second.shape.size() == array.shape.size())
      array_.shape[0] = found->second.shape[0];
  }

  /// Once the array's data are those of the file.
  void deal_out() {
    if (array_.shape[0] == rows_) return;
    std::vector<ConstBuffer> saved;
    const std::size_t saved_rows = std::exchange(array_.shape[0], rows_);
    const std::size_t count = array_.count() / rows_;
    const auto row = [&](void* data, std::size_t number) {
      return Buffer(static_cast<std::byte*>(data) + number * count * size_of(array_.type), count,
                    array_.type);
    };
    for (std::size_t i = 0; i < saved_rows; ++i) saved.push_back(row(array_.data, i));
    dealt_out_.resize(array_.bytes());
    for (std::size_t i = 0; i < rows_; ++i)
      deal_out_residual(saved, static_cast<Rank>(i), static_cast<int>(rows_),
                        row(dealt_out_.data(), i));
    array_.data = dealt_out_.data();
  }

 private:
  ArrayView& array_;
  std::size_t rows_;
  std::vector<std::byte> dealt_out_;
};

void broadcast(Communicator& communicator, Position& position) {
  std::array<std::uint64_t, 5> numbers{position.epoch, position.batch, position.step,
                                       std::bit_cast<std::uint64_t>(position.loss_sum),
                                       position.samples};
  communicator.broadcast(std::span<std::uint64_t>(numbers), 0);
  position = {numbers[0], numbers[1], numbers[2], std::bit_cast<double>(numbers[3]), numbers[4]};
}

}  // namespace

Position load_checkpoint(Communicator& communicator, const std::string& folder,
                         const TrainingState& state) {
  const std::vector<ArrayShard> shards = all_shards(communicator, state);
  std::vector<ArrayView> arrays = all_arrays(state, shards);
  std::vector<Residual> residuals;
  check_alike(communicator, "the settings or arrays to load", describe(state.settings, arrays));
  std::optional<CheckpointFolder::Checkpoint> loaded;
  agree(communicator, [&] {
    if (communicator.rank() != 0) return;
    loaded = load_newest(CheckpointFolder(folder), folder);
    check_settings(loaded->manifest.settings, state.settings, folder);
    for (ArrayView& array : std::span(arrays).last(state.residuals.size()))
      residuals.emplace_back(array, loaded->arrays);
    loaded->arrays.check_holds(arrays);
    for (ArrayView& array : std::span(arrays).last(residuals.size()))
      array.data = loaded->arrays.data(array.name);
    for (Residual& residual : residuals) residual.deal_out();
  });
  if (loaded) {
    for (ArrayView& array : std::span(arrays).first(arrays.size() - residuals.size())) {
      char* const data = loaded->arrays.data(array.name);
      if (array.data != nullptr) device::copy(array.data, data, array.bytes());
      array.data = data;
    }
  }
  Position position = loaded ? loaded->manifest.position : Position{};
  broadcast(communicator, position);
  broadcast_parameters(communicator, state.arrays);
  scatter_shards(communicator, std::span(arrays).subspan(state.arrays.size()), shards);
  return position;
}

}  // namespace rondo::train
