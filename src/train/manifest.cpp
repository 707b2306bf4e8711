#include "train/manifest.hpp"

#include <charconv>
#include <set>
#include <system_error>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <rondo/error.hpp>

#include "train/crc32.hpp"

namespace rondo::train {
namespace {

using nlohmann::json;

constexpr const char* kFormat = "rondo checkpoint 2";
constexpr const char* kChecksumKey = "crc32";

[[noreturn]] void fail(const std::string& path, std::string_view what) {
  throw Error(ErrorCode::corrupt_file, fmt::format("'{}' cannot be used: {}", path, what));
}

std::string hexadecimal(std::uint32_t value) { return fmt::format("{:08x}", value); }

/// Reads all of `text`.
template <class T, class... Base>
T number(const json& value, Base... base) {
  const auto& text = value.get_ref<const std::string&>();
  T result{};
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), result, base...);
  if (error != std::errc{} || end != text.data() + text.size())
    throw std::invalid_argument(fmt::format("\"{}\" is no number", text));
  return result;
}

/// Parses the text and takes its checksum out, which must be that of the rest.
json checked(const std::string& text, const std::string& path) {
  json body = json::parse(text);
  const std::string checksum = body.at(kChecksumKey).get<std::string>();
  body.erase(kChecksumKey);
  if (body.at("format") != kFormat) fail(path, "another version of Rondo wrote it");
  if (checksum != hexadecimal(crc32(body.dump()))) fail(path, "its checksum is wrong");
  return body;
}

}  // namespace

std::string encode(const Manifest& manifest) {
  const Position& position = manifest.position;
  json body;
  body["format"] = kFormat;
  body["epoch"] = position.epoch;
  body["batch"] = position.batch;
  body["step"] = position.step;
  body["samples"] = position.samples;
  body["loss_sum"] = fmt::to_string(position.loss_sum);  // exact, and may be infinite
  body["settings"] = manifest.settings;
  body["notes"] = manifest.notes;
  body["file"] = {{"name", manifest.arrays.name},
                  {"bytes", manifest.arrays.bytes},
                  {"crc32", hexadecimal(manifest.arrays.crc32)}};
  body[kChecksumKey] = hexadecimal(crc32(body.dump()));
  return body.dump(2) + '\n';
}

Manifest decode_manifest(const std::string& text, const std::string& path) {
  try {
    const json body = checked(text, path);
    const json& file = body.at("file");
    return {.position = {.epoch = body.at("epoch"),
                         .batch = body.at("batch"),
                         .step = body.at("step"),
                         .loss_sum = number<double>(body.at("loss_sum")),
                         .samples = body.at("samples")},
            .settings = body.at("settings").get<Settings>(),
            .notes = body.at("notes").get<Settings>(),
            .arrays = {.name = file.at("name"),
                       .bytes = file.at("bytes"),
                       .crc32 = number<std::uint32_t>(file.at("crc32"), 16)}};
  } catch (const json::exception& error) {
    fail(path, fmt::format("it is no checkpoint ({})", error.what()));
  } catch (const std::invalid_argument& error) {
    fail(path, error.what());
  }
}

void check_settings(const Settings& then, const Settings& now, const std::string& path) {
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

}  // namespace rondo::train
