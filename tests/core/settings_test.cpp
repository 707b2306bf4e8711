#include "core/settings.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <optional>
#include <string>

#include <rondo/error.hpp>

namespace rondo::core {
namespace {

using testing::internal::CaptureStderr;
using testing::internal::GetCapturedStderr;

// Sets a variable of the environment for one test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

// The message of the Error(usage) that reading the environment throws; empty when it throws none.
std::string refusal() {
  try {
    Settings::from_environment();
    return {};
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    return error.what();
  }
}

Settings unlike_the_defaults() {
  Settings settings;
  settings.algorithm = "double_binary_tree";
  settings.timeout = std::chrono::milliseconds(1'500);
  settings.log = LogLevel::debug;
  settings.trace = "trace.json";
  settings.tuning_file = "tuning;file=1.json";
  settings.progress = Settings::Progress::poll;
  settings.shm = false;
  settings.vendor = true;
  settings.deterministic = true;
  settings.staging_bytes = 65536;
  settings.on_failure = Settings::OnFailure::throw_error;
  return settings;
}

TEST(Settings, AreTheDefaultsWhenNothingIsSet) {
  EXPECT_EQ(Settings::from_environment(), Settings{});
  EXPECT_EQ(Settings{}.timeout, std::chrono::seconds(600));
}

TEST(Settings, ReadEveryVariable) {
  const Variable variables[] = {{"RONDO_ALGORITHM", "double_binary_tree"},
                                {"RONDO_TIMEOUT", "1.5"},
                                {"RONDO_LOG", "debug"},
                                {"RONDO_TRACE", "trace.json"},
                                {"RONDO_TUNING_FILE", "tuning;file=1.json"},
                                {"RONDO_PROGRESS", "poll"},
                                {"RONDO_SHM", "off"},
                                {"RONDO_VENDOR", "on"},
                                {"RONDO_DETERMINISTIC", "on"},
                                {"RONDO_STAGING_BYTES", "65536"},
                                {"RONDO_ON_FAILURE", "throw"}};
  EXPECT_EQ(Settings::from_environment(), unlike_the_defaults());
}

TEST(Settings, EmptyVariableCountsAsUnset) {
  const Variable timeout("RONDO_TIMEOUT", "");
  const Variable log("RONDO_LOG", "");
  EXPECT_EQ(Settings::from_environment(), Settings{});
}

TEST(Settings, OtherVariablesAreLeftAlone) {
  const Variable other("RONDOX_LOG", "loud");
  EXPECT_EQ(refusal(), "");
}

TEST(Settings, UnknownVariableIsNamedWithTheNearestKnownOne) {
  const std::map<const char*, const char*> typing_errors{
      {"RONDO_ALGORTHM", "RONDO_ALGORITHM"},   {"RONDO_TIME_OUT", "RONDO_TIMEOUT"},
      {"RONDO_LOGLEVEL", "RONDO_LOG"},         {"RONDO_shm", "RONDO_SHM"},
      {"RONDO_ONFAILURE", "RONDO_ON_FAILURE"}, {"RONDO_DETERMINISM", "RONDO_DETERMINISTIC"}};
  for (const auto& [typed, meant] : typing_errors) {
    const Variable variable(typed, "1");
    const std::string message = refusal();
    EXPECT_NE(message.find(std::string(typed) + " is unknown"), std::string::npos) << message;
    EXPECT_NE(message.find(std::string("did you mean ") + meant + "?"), std::string::npos)
        << message;
  }
}

TEST(Settings, ValueThatIsNotAllowedIsNamedWithWhatIs) {
  struct Case {
    const char* name;
    const char* value;
    const char* allowed;
  };
  for (const Case& c : {Case{"RONDO_TIMEOUT", "0", "0.001 to 31536000"},
                        {"RONDO_STAGING_BYTES", "63", "64 to 1073741824"},
                        {"RONDO_STAGING_BYTES", "4M", "64 to 1073741824"},
                        {"RONDO_TIMEOUT", "-3", "0.001 to 31536000"},
                        {"RONDO_TIMEOUT", "nan", "0.001 to 31536000"},
                        {"RONDO_TIMEOUT", "inf", "0.001 to 31536000"},
                        {"RONDO_TIMEOUT", "1e300", "0.001 to 31536000"},
                        {"RONDO_TIMEOUT", "10s", "seconds"},
                        {"RONDO_TIMEOUT", "1,5", "seconds"},
                        {"RONDO_LOG", "verbose", "error, warning, info or debug"},
                        {"RONDO_SHM", "1", "on or off"},
                        {"RONDO_VENDOR", "ON", "on or off"},
                        {"RONDO_DETERMINISTIC", "yes", "on or off"},
                        {"RONDO_PROGRESS", "threads", "thread or poll"},
                        {"RONDO_ON_FAILURE", "exit", "abort or throw"},
                        {"RONDO_ALGORITHM", "ring;x", "algorithm"},
                        {"RONDO_ALGORITHM", "ring ", "algorithm"}}) {
    const Variable variable(c.name, c.value);
    const std::string message = refusal();
    EXPECT_NE(message.find(c.name), std::string::npos) << c.name << "=" << c.value << message;
    EXPECT_NE(message.find(fmt::format("\"{}\"", c.value)), std::string::npos) << message;
    EXPECT_NE(message.find(c.allowed), std::string::npos) << message;
  }
}

TEST(Settings, ListIsWhatTheEnvironmentWouldSay) {
  for (const Settings& settings : {Settings{}, unlike_the_defaults()}) {
    const auto list = settings.list();
    EXPECT_EQ(list.size(), 12u);
    for (const auto& [name, value] : list) setenv(std::string(name).c_str(), value.c_str(), 1);
    EXPECT_EQ(Settings::from_environment(), settings);
    for (const auto& [name, value] : list) unsetenv(std::string(name).c_str());
  }
}

TEST(Settings, DecodeTakesTheSharedOnesAndKeepsOnesOwn) {
  const Settings all = unlike_the_defaults();
  Settings expected = all;
  expected.log = LogLevel::error;
  expected.trace = "mine";
  expected.tuning_file = "";
  expected.progress = Settings::Progress::thread;

  Settings own;
  own.log = LogLevel::error;
  own.trace = "mine";
  EXPECT_EQ(Settings::decode(all.encode(), own), expected);
  EXPECT_EQ(Settings::decode(Settings{}.encode(), all).timeout, Settings{}.timeout);
  EXPECT_EQ(Settings::decode(Settings{}.encode(), all).algorithm, "");
}

TEST(Settings, DecodeRefusesTextOfAnotherVersion) {
  const std::string text = Settings{}.encode();
  ASSERT_EQ(text.find('\n'), std::string::npos);
  const std::string without_first = text.substr(text.find(';') + 1);
  for (const std::string& other :
       {std::string{}, without_first, text + "RONDO_MORE=1;", text.substr(0, text.size() - 1),
        "RONDO_ALGORITHM" + text, std::string("=;=;=;=;=;=;")}) {
    try {
      Settings::decode(other, {});
      ADD_FAILURE() << "accepted: " << other;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::mismatch);
      EXPECT_NE(std::string(error.what()).find("same version"), std::string::npos);
    }
  }
}

TEST(Settings, PutInForceSetsTheLevel) {
  unlike_the_defaults().put_in_force();
  EXPECT_EQ(log_level(), LogLevel::debug);
  Settings{}.put_in_force();
  EXPECT_EQ(log_level(), LogLevel::warning);
}

}  // namespace
}  // namespace rondo::core
