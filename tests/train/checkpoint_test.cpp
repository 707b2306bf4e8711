#include <rondo/train/checkpoint.hpp>

#include <cstring>
#include <filesystem>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"
#include "support/thread_communicators.hpp"

namespace rondo::train {
namespace {

using rondo::testing::errors_of_communicators;
using rondo::testing::expect_error;
using rondo::testing::read_file;
using rondo::testing::run_communicators;
using rondo::testing::TemporaryFolder;

/// What a small training would save.
struct State {
  std::vector<float> weight = std::vector<float>(6);
  double loss = 0;
  std::int64_t step = 0;

  explicit State(float first) {
    std::iota(weight.begin(), weight.end(), first);
    loss = first / 3;
    step = static_cast<std::int64_t>(first);
  }
  std::vector<ArrayView> views() {
    return {{"weight", DataType::float32, {2, 3}, weight.data()},
            {"loss", DataType::float64, {}, &loss},
            {"empty", DataType::int8, {0, 4}, nullptr},
            {"step", DataType::int64, {}, &step}};
  }
  friend bool operator==(const State&, const State&) = default;
};

const Position kPosition{.epoch = 3, .batch = 7, .step = 1000, .loss_sum = 0.1, .samples = 70};
const Settings kSettings{{"batch-size", "64"}, {"optimizer", "adam"}};

class Checkpoint : public ::testing::Test {
 protected:
  void save(int ranks = 1) {
    run_communicators(ranks, [&](Communicator& communicator) {
      State state(communicator.rank() == 0 ? 1.0F : 9.0F);
      save_checkpoint(communicator, path_, kPosition, kSettings, state.views());
    });
  }

  /// Expects every rank to refuse to load, and to leave its state alone.
  void expect_refused(ErrorCode code, const std::vector<std::string>& parts,
                      const Settings& settings = kSettings) {
    const auto errors = errors_of_communicators(3, [&](Communicator& communicator) {
      State state(5);
      try {
        load_checkpoint(communicator, path_, settings, state.views());
      } catch (...) {
        EXPECT_EQ(state, State(5));
        throw;
      }
    });
    for (const std::exception_ptr& error : errors) {
      ASSERT_NE(error, nullptr) << parts.front();
      expect_error(code, parts, [&] { std::rethrow_exception(error); });
    }
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.path("model.safetensors");
};

TEST_F(Checkpoint, GivesEveryRankWhatRankZeroSaved) {
  save(2);
  run_communicators(3, [&](Communicator& communicator) {
    State state(5);
    EXPECT_EQ(load_checkpoint(communicator, path_, kSettings, state.views()), kPosition);
    EXPECT_EQ(state, State(1));
  });
}

TEST_F(Checkpoint, KeepsEveryBitOfTheLoss) {
  for (const double loss :
       {1.0 / 3.0, 1e-310, -0.0, 1.7976931348623157e308, std::numeric_limits<double>::infinity()})
    run_communicators(1, [&](Communicator& communicator) {
      State state(1);
      Position position = kPosition;
      position.loss_sum = loss;
      save_checkpoint(communicator, path_, position, kSettings, state.views());
      const Position loaded = load_checkpoint(communicator, path_, kSettings, state.views());
      EXPECT_EQ(std::memcmp(&loaded.loss_sum, &loss, sizeof loss), 0);
    });
}

TEST_F(Checkpoint, ReplacesAnOlderOneAndLeavesNothingElse) {
  folder_.write("model.safetensors", "old");
  save();
  run_communicators(1, [&](Communicator& communicator) {
    State state(5);
    load_checkpoint(communicator, path_, kSettings, state.views());
  });
  EXPECT_FALSE(std::filesystem::exists(path_ + ".tmp"));
}

TEST_F(Checkpoint, IsLaidOutAsSafetensorsSays) {
  save();
  const std::string bytes = read_file(path_);
  std::uint64_t header = 0;
  std::memcpy(&header, bytes.data(), 8);
  EXPECT_EQ(header % 8, 0U);
  EXPECT_EQ(bytes[8], '{');
  EXPECT_EQ(bytes.size(), 8 + header + 8 + 8 + 24);
  const std::string text = bytes.substr(8, header);
  EXPECT_NE(text.find(R"("weight":{"data_offsets":[16,40],"dtype":"F32","shape":[2,3]})"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(R"("loss":{"data_offsets":[0,8],"dtype":"F64","shape":[]})"),
            std::string::npos)
      << text;
}

TEST_F(Checkpoint, OfOtherSettingsIsRefusedNamingThem) {
  save();
  expect_refused(ErrorCode::usage,
                 {"batch-size was 64 and is 32 now", "nesterov was not set and is on now"},
                 {{"batch-size", "32"}, {"optimizer", "adam"}, {"nesterov", "on"}});
  expect_refused(ErrorCode::usage, {"optimizer was adam and is not set now"},
                 {{"batch-size", "64"}});
}

TEST_F(Checkpoint, OfAnotherModelIsRefused) {
  const auto save_with = [&](const std::vector<ArrayView>& views) {
    run_communicators(1, [&](Communicator& communicator) {
      save_checkpoint(communicator, path_, kPosition, kSettings, views);
    });
  };
  State state(1);
  auto views = state.views();
  views[0].shape = {3, 2};
  save_with(views);
  expect_refused(ErrorCode::usage, {"'weight'", "float32 [3, 2]", "float32 [2, 3] is needed"});
  views = state.views();
  views[1].type = DataType::int64;
  save_with(views);
  expect_refused(ErrorCode::usage, {"'loss'", "int64 []", "float64 []"});
  views = state.views();
  views.pop_back();
  save_with(views);
  expect_refused(ErrorCode::usage, {"no array 'step'"});
  views = state.views();
  views.push_back({"more", DataType::float64, {}, &state.loss});
  save_with(views);
  expect_refused(ErrorCode::usage, {"'more'", "no use"});
}

TEST_F(Checkpoint, RefusesTwoArraysOfOneName) {
  run_communicators(1, [&](Communicator& communicator) {
    State state(1);
    auto views = state.views();
    views[1].name = "weight";
    expect_error(ErrorCode::usage, {"'weight'"},
                 [&] { save_checkpoint(communicator, path_, kPosition, kSettings, views); });
    EXPECT_FALSE(std::filesystem::exists(path_));
  });
}

TEST_F(Checkpoint, CutShortAnywhereIsRefused) {
  save();
  const std::string whole = read_file(path_);
  for (std::size_t length = 0; length < whole.size(); length += length < 20 ? 1 : 13) {
    folder_.write("model.safetensors", std::string_view(whole).substr(0, length));
    expect_refused(ErrorCode::corrupt_file, {"model.safetensors", "cannot be used"});
  }
}

TEST_F(Checkpoint, WithBytesAfterItsEndIsRefused) {
  save();
  folder_.write("model.safetensors", read_file(path_) + "x");
  expect_refused(ErrorCode::corrupt_file, {"after the last array"});
}

/// Replaces the header by another of any length.
std::string with_header(const std::string& bytes, const std::string& header) {
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  const std::uint64_t now = header.size();
  return std::string(reinterpret_cast<const char*>(&now), 8) + header + bytes.substr(8 + length);
}

TEST_F(Checkpoint, WithAnImpossibleHeaderIsRefused) {
  save();
  const std::string whole = read_file(path_);
  const auto entry = [](const std::string& dtype, const std::string& shape,
                        const std::string& offsets) {
    return R"({"a":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" +
           offsets + "}}";
  };
  const std::vector<std::pair<std::string, std::string>> headers{
      {"", "header"},
      {"{", "header"},
      {"[]", "header"},
      {"{} {}", "header"},
      {R"({"a":7})", "header"},
      {R"({"a":{}})", "header"},
      {R"({"__metadata__":{"step":5}})", "header"},
      {entry("F33", "[10]", "[0,40]"), "unknown type F33"},
      {entry("F32", "[-10]", "[0,40]"), "negative or not whole"},
      {entry("F32", "[10.0]", "[0,40]"), "negative or not whole"},
      {entry("F32", "[10]", "[0]"), "header"},
      {entry("F32", "[10]", "[40,0]"), "beyond the end"},
      {entry("F32", "[11]", "[0,44]"), "beyond the end"},
      {entry("F32", "[9]", "[0,40]"), "shape of 'a'"},
      {entry("F32", "[4611686018427387914]", "[0,40]"), "shape of 'a'"},
      {entry("F32", "[9]", "[4,40]"), "overlap or leave a gap"},
      {entry("F32", "[9]", "[0,36]"), "after the last array"},
      {"{}", "after the last array"},
      {R"({"a":{"dtype":"F64","shape":[3],"data_offsets":[0,24]},)"
       R"("b":{"dtype":"F64","shape":[3],"data_offsets":[16,40]}})",
       "overlap or leave a gap"},
  };
  for (const auto& [header, part] : headers) {
    folder_.write("model.safetensors", with_header(whole, header));
    expect_refused(ErrorCode::corrupt_file, {"model.safetensors", part});
  }
}

TEST_F(Checkpoint, WithAnImpossibleHeaderLengthIsRefused) {
  save();
  std::string bytes = read_file(path_);
  for (const std::uint64_t length : {std::uint64_t{99'999'999}, ~std::uint64_t{0}}) {
    std::memcpy(bytes.data(), &length, 8);
    folder_.write("model.safetensors", bytes);
    expect_refused(ErrorCode::corrupt_file, {"cannot be used"});
  }
}

TEST_F(Checkpoint, OfSomebodyElseIsRefused) {
  folder_.write("model.safetensors", std::string("\2\0\0\0\0\0\0\0{}", 10));
  expect_refused(ErrorCode::corrupt_file, {"no checkpoint of this version"});
}

TEST_F(Checkpoint, WithABrokenPositionIsRefused) {
  save();
  std::string bytes = read_file(path_);
  const std::size_t place = bytes.find(R"("step":"1000")");
  ASSERT_NE(place, std::string::npos);
  bytes.replace(place, 13, R"("step":"10x0")");
  folder_.write("model.safetensors", bytes);
  expect_refused(ErrorCode::corrupt_file, {"'step'", "no number"});
}

TEST_F(Checkpoint, ThatIsNotThereIsNamedOnEveryRank) {
  expect_refused(ErrorCode::system, {"model.safetensors", "No such file"});
  path_ = folder_.path();
  expect_refused(ErrorCode::system, {"Is a directory"});
}

TEST_F(Checkpoint, FailureToSaveIsThrownOnEveryRank) {
  path_ = folder_.path("absent/model.safetensors");
  for (const std::exception_ptr& error :
       errors_of_communicators(3, [&](Communicator& communicator) {
         State state(1);
         save_checkpoint(communicator, path_, kPosition, kSettings, state.views());
       })) {
    ASSERT_NE(error, nullptr);
    expect_error(ErrorCode::system, {"absent/model.safetensors", "No such file"},
                 [&] { std::rethrow_exception(error); });
  }
}

}  // namespace
}  // namespace rondo::train
