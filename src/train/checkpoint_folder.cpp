#include "train/checkpoint_folder.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#include <rondo/error.hpp>

#include "core/check.hpp"
#include "core/files.hpp"
#include "core/output_file.hpp"
#include "train/crc32.hpp"

namespace rondo::train {
namespace {

constexpr std::string_view kPrefix = "checkpoint-";
constexpr std::string_view kManifest = ".json";
constexpr std::string_view kArrays = ".safetensors";

std::string name_of(std::uint64_t number, std::string_view suffix) {
  return fmt::format("{}{}{}", kPrefix, number, suffix);
}

}  // namespace

/// A file of the folder that has to do with checkpoint `number`.
struct CheckpointFolder::Entry {
  std::string name;
  std::uint64_t number;
  std::string suffix;  // what follows the number; one more than those above: not finished

  static std::optional<Entry> of(const std::string& name) {
    if (!name.starts_with(kPrefix)) return {};
    Entry entry{name, 0, {}};
    const char* const end = name.data() + name.size();
    const auto [rest, error] = std::from_chars(name.data() + kPrefix.size(), end, entry.number);
    entry.suffix.assign(rest, end);
    const bool ours = entry.suffix.starts_with(kManifest) || entry.suffix.starts_with(kArrays);
    return error == std::errc{} && ours ? std::optional(entry) : std::nullopt;
  }
};

std::string CheckpointFolder::file(const std::string& name) const {
  return (std::filesystem::path(path_) / name).string();
}

std::string CheckpointFolder::manifest_path(std::uint64_t number) const {
  return file(name_of(number, kManifest));
}

std::vector<CheckpointFolder::Entry> CheckpointFolder::entries() const {
  std::vector<Entry> found;
  for (const std::string& name : core::files_in(path_))
    if (const auto entry = Entry::of(name)) found.push_back(*entry);
  return found;
}

std::vector<std::uint64_t> CheckpointFolder::numbers() const {
  std::vector<std::uint64_t> found;
  for (const Entry& entry : entries())
    if (entry.suffix == kManifest) found.push_back(entry.number);
  std::ranges::sort(found, std::greater{});
  return found;
}

// ── Saving

void CheckpointFolder::prepare() const {
  core::make_folder(path_);
  core::check_replaceable(manifest_path(0));
}

void CheckpointFolder::save(Manifest manifest, std::span<const ArrayView> arrays,
                            std::size_t keep) const {
  remove_leftovers();  // of a save that was killed, while there may be little room
  std::vector<std::uint64_t> there = numbers();
  try {
    write(there.empty() ? 1 : there.front() + 1, manifest, arrays);
  } catch (...) {
    try {
      remove_leftovers();
    } catch (const Error&) {  // the first error is what counts
    }
    throw;
  }
  for (std::size_t i = keep - 1; i < there.size(); ++i) remove(there[i]);
}

void CheckpointFolder::write(std::uint64_t number, Manifest& manifest,
                             std::span<const ArrayView> arrays) const {
  manifest.arrays.name = name_of(number, kArrays);
  const SafetensorsImage image(arrays);
  for (const std::string_view piece : image.pieces()) {
    manifest.arrays.bytes += piece.size();
    manifest.arrays.crc32 = crc32(piece, manifest.arrays.crc32);
  }
  core::replace_file(file(manifest.arrays.name), image.pieces());
  const std::string text = encode(manifest);
  const std::string_view pieces[] = {text};
  core::replace_file(manifest_path(number), pieces);
}

/// Files that no manifest names: written or removed in part.
void CheckpointFolder::remove_leftovers() const {
  const std::vector<Entry> all = entries();
  std::set<std::uint64_t> whole;
  for (const Entry& entry : all)
    if (entry.suffix == kManifest) whole.insert(entry.number);
  for (const Entry& entry : all) {
    const bool finished = entry.suffix == kManifest || entry.suffix == kArrays;
    if (!finished || !whole.contains(entry.number)) core::remove_file(file(entry.name));
  }
}

/// The manifest goes first, so that what is left after a kill is no checkpoint.
void CheckpointFolder::remove(std::uint64_t number) const {
  core::remove_file(manifest_path(number));
  core::remove_file(file(name_of(number, kArrays)));
}

// ── Loading

CheckpointFolder::Checkpoint CheckpointFolder::load(std::uint64_t number) const {
  Manifest manifest =
      decode_manifest(core::read_file(manifest_path(number)), manifest_path(number));
  const std::string path = file(manifest.arrays.name);
  const auto damaged = [&](const std::string& what) {
    throw Error(ErrorCode::corrupt_file, fmt::format("'{}' cannot be used: {}", path, what));
  };
  if (manifest.arrays.name.find('/') != std::string::npos) damaged("it is in another folder");
  if (!std::filesystem::exists(path)) damaged("it is missing");
  std::string contents = core::read_file(path);
  if (contents.size() != manifest.arrays.bytes)
    damaged(
        fmt::format("it has {} bytes and should have {}", contents.size(), manifest.arrays.bytes));
  if (crc32(contents) != manifest.arrays.crc32) damaged("its checksum is wrong");
  return {std::move(manifest), SafetensorsFile(std::move(contents), path)};
}

}  // namespace rondo::train
