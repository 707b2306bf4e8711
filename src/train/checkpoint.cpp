#include <rondo/train/checkpoint.hpp>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <rondo/error.hpp>
#include <rondo/train/agree.hpp>

#include "core/check.hpp"
#include "train/safetensors.hpp"

namespace rondo::train {
namespace {

constexpr std::string_view kFormatKey = "rondo";
constexpr std::string_view kFormat = "checkpoint 1";
constexpr std::string_view kSettingPrefix = "setting.";

/// Reads numbers from the metadata of one file.
class Reader {
 public:
  Reader(const Metadata& metadata, const std::string& path) : metadata_(metadata), path_(path) {}

  template <class T>
  T number(const std::string& key) const {
    const auto found = metadata_.find(key);
    T value{};
    if (found != metadata_.end()) {
      const std::string& text = found->second;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (error == std::errc{} && end == text.data() + text.size()) return value;
    }
    throw Error(ErrorCode::corrupt_file,
                fmt::format("'{}' cannot be used: its '{}' is missing or no number", path_, key));
  }

 private:
  const Metadata& metadata_;
  const std::string& path_;
};

Metadata encode(const Position& position, const Settings& settings) {
  Metadata metadata{
      {std::string(kFormatKey), std::string(kFormat)}, {"epoch", fmt::to_string(position.epoch)},
      {"batch", fmt::to_string(position.batch)},       {"step", fmt::to_string(position.step)},
      {"loss_sum", fmt::to_string(position.loss_sum)},  // the shortest exact form
      {"samples", fmt::to_string(position.samples)}};
  for (const auto& [name, value] : settings)
    metadata[fmt::format("{}{}", kSettingPrefix, name)] = value;
  return metadata;
}

Position decode(const Metadata& metadata, const std::string& path) {
  const auto format = metadata.find(std::string(kFormatKey));
  if (format == metadata.end() || format->second != kFormat)
    throw Error(ErrorCode::corrupt_file,
                fmt::format("'{}' is a safetensors file, but no checkpoint of this version", path));
  const Reader reader(metadata, path);
  return {reader.number<std::uint64_t>("epoch"), reader.number<std::uint64_t>("batch"),
          reader.number<std::uint64_t>("step"), reader.number<double>("loss_sum"),
          reader.number<std::uint64_t>("samples")};
}

void check_settings(const Metadata& metadata, const Settings& now, const std::string& path) {
  Settings then;
  for (const auto& [key, value] : metadata)
    if (key.starts_with(kSettingPrefix)) then[key.substr(kSettingPrefix.size())] = value;
  std::set<std::string> names;
  for (const auto& [name, value] : then) names.insert(name);
  for (const auto& [name, value] : now) names.insert(name);

  const auto value_in = [](const Settings& settings, const std::string& name) {
    const auto found = settings.find(name);
    return found == settings.end() ? std::string("not set") : found->second;
  };
  std::vector<std::string> differences;
  for (const std::string& name : names)
    if (value_in(then, name) != value_in(now, name))
      differences.push_back(
          fmt::format("{} was {} and is {} now", name, value_in(then, name), value_in(now, name)));
  if (!differences.empty())
    throw Error(ErrorCode::usage,
                fmt::format("cannot resume from '{}': {}", path, fmt::join(differences, "; ")));
}

std::string read_whole_file(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) core::throw_system("read", path, EISDIR);
  std::ifstream file(path, std::ios::binary);
  if (!file) core::throw_system("read", path, errno);
  std::string contents{std::istreambuf_iterator<char>(file), {}};
  if (file.bad()) core::throw_system("read", path, errno);
  return contents;
}

std::string read_on_root(Communicator& communicator, const std::string& path) {
  std::string contents;
  agree(communicator, [&] {
    if (communicator.rank() == 0) contents = read_whole_file(path);
  });
  std::uint64_t size[] = {contents.size()};
  communicator.broadcast(std::span<std::uint64_t>(size), 0);
  contents.resize(size[0]);
  communicator.broadcast(Buffer(contents.data(), contents.size(), DataType::uint8), 0);
  return contents;
}

}  // namespace

void save_checkpoint(Communicator& communicator, const std::string& path, const Position& position,
                     const Settings& settings, std::span<const ArrayView> arrays) {
  agree(communicator, [&] {
    if (communicator.rank() == 0) write_safetensors(path, arrays, encode(position, settings));
  });
}

Position load_checkpoint(Communicator& communicator, const std::string& path,
                         const Settings& settings, std::span<const ArrayView> arrays) {
  std::string contents = read_on_root(communicator, path);
  Position position;
  agree(communicator, [&] {
    const SafetensorsFile file(std::move(contents), path);
    position = decode(file.metadata(), path);
    check_settings(file.metadata(), settings, path);
    file.copy_to(arrays);
  });
  return position;
}

}  // namespace rondo::train
