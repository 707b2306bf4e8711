#include "core/settings.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>

#include <rondo/error.hpp>

namespace rondo::core {

namespace {

constexpr std::string_view kPrefix = "RONDO_";
constexpr std::size_t kLeastStagingBytes = 64;
constexpr std::size_t kMostStagingBytes = 1'073'741'824;
constexpr double kLongestTimeout = 31'536'000;  // a year, in seconds

// ── Values as text: parse() says whether the text was allowed.

template <class T>
struct Choice {
  std::string_view text;
  T value;
};

constexpr std::array<Choice<bool>, 2> kSwitch{{{"on", true}, {"off", false}}};
constexpr std::array<Choice<LogLevel>, 4> kLogLevels{{{"error", LogLevel::error},
                                                      {"warning", LogLevel::warning},
                                                      {"info", LogLevel::info},
                                                      {"debug", LogLevel::debug}}};
constexpr std::array<Choice<Settings::Progress>, 2> kProgress{
    {{"thread", Settings::Progress::thread}, {"poll", Settings::Progress::poll}}};
constexpr std::array<Choice<Settings::OnFailure>, 2> kOnFailure{
    {{"abort", Settings::OnFailure::abort}, {"throw", Settings::OnFailure::throw_error}}};

constexpr std::span<const Choice<bool>> choices_of(bool) { return kSwitch; }
constexpr std::span<const Choice<LogLevel>> choices_of(LogLevel) { return kLogLevels; }
constexpr std::span<const Choice<Settings::Progress>> choices_of(Settings::Progress) {
  return kProgress;
}
constexpr std::span<const Choice<Settings::OnFailure>> choices_of(Settings::OnFailure) {
  return kOnFailure;
}

template <class T>
bool parse(std::string_view text, T& value) {
  for (const auto& choice : choices_of(T{})) {
    if (choice.text != text) continue;
    value = choice.value;
    return true;
  }
  return false;
}

template <class T>
std::string to_text(T value) {
  for (const auto& choice : choices_of(T{}))
    if (choice.value == value) return std::string(choice.text);
  return {};
}

bool parse(std::string_view text, std::string& value) {
  value = text;
  return true;
}

std::string to_text(const std::string& value) { return value; }

bool parse(std::string_view text, std::chrono::milliseconds& value) {
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc{} || end != text.data() + text.size()) return false;
  if (!(seconds >= 0.001 && seconds <= kLongestTimeout)) return false;  // refuses a NaN too
  value = std::chrono::milliseconds(std::llround(seconds * 1000));
  return true;
}

std::string to_text(std::chrono::milliseconds value) {
  return fmt::format("{}", static_cast<double>(value.count()) / 1000);
}

bool parse(std::string_view text, std::size_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

std::string to_text(std::size_t value) { return fmt::format("{}", value); }

// An algorithm's name; which names there are is known further up.
bool is_algorithm_name(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::islower(c) || std::isdigit(c) || c == '_' || c == '-';
  });
}

bool parse_algorithm(std::string_view text, std::string& value) {
  return is_algorithm_name(text) && parse(text, value);
}

// ── The table of variables

struct Variable {
  std::string_view name;
  std::string_view allowed;
  bool shared;  // must be alike on all ranks
  bool (*set)(Settings&, std::string_view text);
  std::string (*get)(const Settings&);
};

template <auto member>
bool set(Settings& settings, std::string_view text) {
  return parse(text, settings.*member);
}

template <auto member>
std::string get(const Settings& settings) {
  return to_text(settings.*member);
}

template <auto member>
constexpr Variable variable(std::string_view name, std::string_view allowed, bool shared) {
  return {name, allowed, shared, &set<member>, &get<member>};
}

constexpr bool kShared = true;
constexpr bool kOwn = false;

bool set_algorithm(Settings& settings, std::string_view text) {
  return parse_algorithm(text, settings.algorithm);
}

bool set_staging_bytes(Settings& settings, std::string_view text) {
  return parse(text, settings.staging_bytes) && settings.staging_bytes >= kLeastStagingBytes &&
         settings.staging_bytes <= kMostStagingBytes;
}

constexpr std::array kVariables{
    Variable{"RONDO_ALGORITHM", "the name of an algorithm, such as ring", kShared, &set_algorithm,
             &get<&Settings::algorithm>},
    variable<&Settings::timeout>("RONDO_TIMEOUT", "seconds from 0.001 to 31536000, such as 600",
                                 kShared),
    variable<&Settings::log>("RONDO_LOG", "error, warning, info or debug", kOwn),
    variable<&Settings::trace>("RONDO_TRACE", "a file's path", kOwn),
    variable<&Settings::tuning_file>("RONDO_TUNING_FILE", "a file's path", kOwn),
    variable<&Settings::progress>("RONDO_PROGRESS", "thread or poll", kOwn),
    variable<&Settings::shm>("RONDO_SHM", "on or off", kShared),
    variable<&Settings::vendor>("RONDO_VENDOR", "on or off", kShared),
    variable<&Settings::nccl>("RONDO_NCCL", "on or off", kShared),
    variable<&Settings::deterministic>("RONDO_DETERMINISTIC", "on or off", kShared),
    Variable{"RONDO_STAGING_BYTES", "bytes from 64 to 1073741824, such as 4194304", kShared,
             &set_staging_bytes, &get<&Settings::staging_bytes>},
    variable<&Settings::on_failure>("RONDO_ON_FAILURE", "abort or throw", kShared),
};

const Variable* find(std::string_view name) {
  const auto found = std::find_if(kVariables.begin(), kVariables.end(),
                                  [&](const Variable& v) { return v.name == name; });
  return found == kVariables.end() ? nullptr : found;
}

// ── Unknown names

// How many characters must be inserted, removed or replaced to make `a` of `b` (Levenshtein, 1966).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

std::string upper_case(std::string_view text) {
  std::string upper(text);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return upper;
}

std::string_view nearest_name(std::string_view name) {
  const std::string wanted = upper_case(name);
  const auto nearest =
      std::min_element(kVariables.begin(), kVariables.end(), [&](const auto& a, const auto& b) {
        return edit_distance(wanted, a.name) < edit_distance(wanted, b.name);
      });
  return nearest->name;
}

void apply(Settings& settings, std::string_view name, std::string_view value) {
  const Variable* variable = find(name);
  if (variable == nullptr)
    throw Error(ErrorCode::usage,
                fmt::format("the environment variable {} is unknown; did you mean {}? Unset it, or "
                            "correct its name",
                            name, nearest_name(name)));
  if (value.empty()) return;
  if (!variable->set(settings, value))
    throw Error(ErrorCode::usage,
                fmt::format("the environment variable {} is \"{}\", which is not allowed; set it "
                            "to {}",
                            name, value, variable->allowed));
}

}  // namespace

Settings Settings::from_environment() {
  Settings settings;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (!text.starts_with(kPrefix) || equals == std::string_view::npos) continue;
    apply(settings, text.substr(0, equals), text.substr(equals + 1));
  }
  return settings;
}

void Settings::put_in_force() const { set_log_level(log); }

std::string Settings::encode() const {
  std::string text;
  for (const Variable& variable : kVariables)
    if (variable.shared) text += fmt::format("{}={};", variable.name, variable.get(*this));
  return text;
}

Settings Settings::decode(std::string_view text, Settings own) {
  std::string_view rest = text;
  bool understood = true;
  for (const Variable& variable : kVariables) {
    if (!variable.shared) continue;
    const std::size_t equals = rest.find('=');
    const std::size_t end = rest.find(';');
    understood = understood && equals < end && end != std::string_view::npos &&
                 rest.substr(0, equals) == variable.name &&
                 variable.set(own, rest.substr(equals + 1, end - equals - 1));
    if (!understood) break;
    rest.remove_prefix(end + 1);
  }
  if (!understood || !rest.empty())
    throw Error(ErrorCode::mismatch,
                fmt::format("this rank can't read the settings \"{}\" of rank 0; run the same "
                            "version of Rondo on all ranks",
                            text));
  return own;
}

std::vector<std::pair<std::string_view, std::string>> Settings::list() const {
  std::vector<std::pair<std::string_view, std::string>> list;
  list.reserve(kVariables.size());
  for (const Variable& variable : kVariables) list.emplace_back(variable.name, variable.get(*this));
  return list;
}

}  // namespace rondo::core
