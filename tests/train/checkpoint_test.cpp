#include <rondo/train/checkpoint.hpp>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <stdexcept>
#include <thread>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/file_faults.hpp"
#include "support/temporary_folder.hpp"
#include "support/thread_communicators.hpp"
#include "train/checkpoint_folder.hpp"

namespace rondo::train {
namespace {

using rondo::testing::errors_of_communicators;
using rondo::testing::expect_error;
using rondo::testing::FileFaults;
using rondo::testing::read_file;
using rondo::testing::run_communicators;
using rondo::testing::TemporaryFolder;

const Settings kSettings{{"batch-size", "64"}, {"optimizer", "adam"}};

/// What a small training would save at a step.
struct Model {
  std::vector<float> weight = std::vector<float>(6);
  double rate = 0;
  std::int64_t step = 0;

  explicit Model(std::int64_t at) : rate(static_cast<double>(at) / 3), step(at) {
    std::iota(weight.begin(), weight.end(), static_cast<float>(at));
  }
  TrainingState state(const Settings& settings = kSettings) {
    return {.settings = settings,
            .notes = {{"ranks", "3"}},
            .arrays = {{"weight", DataType::float32, {2, 3}, weight.data()},
                       {"rate", DataType::float64, {}, &rate},
                       {"empty", DataType::int8, {0, 4}, nullptr},
                       {"step", DataType::int64, {}, &step}},
            .shards = {}};
  }
  Position position() const {
    return {.epoch = 3, .batch = 7, .step = std::uint64_t(step), .loss_sum = rate, .samples = 70};
  }
  friend bool operator==(const Model&, const Model&) = default;
};

class Checkpoints : public ::testing::Test {
 protected:
  /// Saves one checkpoint for each step.
  void save(const std::vector<std::int64_t>& steps, std::size_t keep = 3, int ranks = 1) {
    run_communicators(ranks, [&](Communicator& communicator) {
      Checkpointer checkpointer(communicator, path_, keep);
      for (const std::int64_t step : steps) {
        Model model(communicator.rank() == 0 ? step : -1);
        checkpointer.save(model.position(), model.state());
        model = Model(-2);  // training goes on at once
      }
      checkpointer.finish();
    });
  }

  /// The step of the newest checkpoint, which must be whole.
  std::int64_t load_newest() {
    const CheckpointFolder folder(path_);
    EXPECT_NO_THROW(folder.load(folder.numbers().at(0)));
    return load();
  }

  /// The step of the newest whole checkpoint, whose contents must be those of this step.
  std::int64_t load(int ranks = 1) {
    std::int64_t step = -1;
    run_communicators(ranks, [&](Communicator& communicator) {
      Model model(5000);
      const Position position = load_checkpoint(communicator, path_, model.state());
      EXPECT_EQ(model, Model(model.step));
      EXPECT_EQ(position, model.position());
      if (communicator.rank() == 0) step = model.step;
    });
    return step;
  }

  /// Expects every rank to refuse to load, and to leave its arrays alone.
  void expect_refused(
      ErrorCode code, const std::vector<std::string>& parts,
      const std::function<void(TrainingState&)>& change = [](TrainingState&) {}) {
    for (const std::exception_ptr& error : errors_of_communicators(3, [&](Communicator& ranks) {
           Model model(5);
           TrainingState state = model.state();
           change(state);
           try {
             load_checkpoint(ranks, path_, state);
           } catch (...) {
             EXPECT_EQ(model, Model(5));
             throw;
           }
         })) {
      ASSERT_NE(error, nullptr) << parts.front();
      expect_error(code, parts, [&] { std::rethrow_exception(error); });
    }
  }

  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_))
      names.push_back(entry.path().filename().string());
    std::ranges::sort(names);
    return names;
  }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  void write(const std::string& name, std::string_view contents) const {
    folder_.write("saved/" + name, contents);
  }

  TemporaryFolder folder_;
  FileFaults faults_{folder_.path()};
  std::string path_ = folder_.path("saved");
};

TEST_F(Checkpoints, GiveEveryRankWhatRankZeroSaved) {
  save({1000}, 3, 2);
  EXPECT_EQ(load(3), 1000);
}

TEST_F(Checkpoints, AreKeptAsManyAsWanted) {
  save({10, 20, 30, 25}, 2);
  EXPECT_EQ(files(), (std::vector<std::string>{"checkpoint-3.json", "checkpoint-3.safetensors",
                                               "checkpoint-4.json", "checkpoint-4.safetensors"}));
  EXPECT_EQ(load(), 25) << "the newest is the one that was saved last";
  save({40}, 1);
  EXPECT_EQ(files(), (std::vector<std::string>{"checkpoint-5.json", "checkpoint-5.safetensors"}));
  run_communicators(1, [&](Communicator& communicator) {
    expect_error(ErrorCode::usage, {"at least one"}, [&] { Checkpointer(communicator, path_, 0); });
  });
}

TEST_F(Checkpoints, KeepEveryBitOfTheLoss) {
  for (const double loss :
       {1.0 / 3.0, 1e-310, -0.0, 1.7976931348623157e308, std::numeric_limits<double>::infinity()})
    run_communicators(1, [&](Communicator& communicator) {
      Model model(1);
      Checkpointer checkpointer(communicator, path_);
      checkpointer.save({.loss_sum = loss}, model.state());
      checkpointer.finish();
      const Position loaded = load_checkpoint(communicator, path_, model.state());
      EXPECT_EQ(std::memcmp(&loaded.loss_sum, &loss, sizeof loss), 0);
    });
}

TEST_F(Checkpoints, OfOtherSettingsAreRefusedNamingThem) {
  save({1});
  expect_refused(ErrorCode::usage,
                 {"batch-size was 64 and is 32 now", "nesterov was not set and is on now"},
                 [](TrainingState& state) {
                   state.settings["batch-size"] = "32";
                   state.settings["nesterov"] = "on";
                 });
  expect_refused(ErrorCode::usage, {"optimizer was adam and is not set now"},
                 [](TrainingState& state) { state.settings.erase("optimizer"); });
}

TEST_F(Checkpoints, OfAnotherModelAreRefused) {
  save({1});
  expect_refused(ErrorCode::usage, {"'weight'", "float32 [2, 3]", "float32 [3, 2] is needed"},
                 [](TrainingState& state) {
                   state.arrays[0].shape = {3, 2};
                 });
  expect_refused(ErrorCode::usage, {"'step'", "no use"},
                 [](TrainingState& state) { state.arrays.pop_back(); });
}

TEST_F(Checkpoints, ThatRanksWantDifferentlyAreRefused) {
  save({1});
  for (const std::exception_ptr& error : errors_of_communicators(3, [&](Communicator& ranks) {
         Model model(5);
         load_checkpoint(ranks, path_, model.state(ranks.rank() == 1 ? Settings{} : kSettings));
       }))
    expect_error(ErrorCode::mismatch, {"rank 1"}, [&] { std::rethrow_exception(error); });
}

TEST_F(Checkpoints, ThatAreNotThereAreNamed) {
  expect_refused(ErrorCode::system, {"saved", "No such file"});
  std::filesystem::create_directory(path_);
  write("checkpoint-5.safetensors", "without its manifest");
  expect_refused(ErrorCode::system, {"no checkpoint in", "saved"});
  path_ = folder_.write("file", "");
  expect_refused(ErrorCode::system, {"file", "Not a directory"});
}

/// Rank r of N has elements [10·r/N, 10·(r+1)/N) of an array, and all of another if it is rank 1.
struct Shards {
  std::vector<double> part;
  std::vector<double> whole;
  TrainingState state;

  explicit Shards(const Communicator& communicator) {
    const auto rank = std::size_t(communicator.rank());
    const auto ranks = std::size_t(communicator.size());
    const Slice slice{10 * rank / ranks, 10 * (rank + 1) / ranks - 10 * rank / ranks};
    part.resize(slice.count);
    std::iota(part.begin(), part.end(), static_cast<double>(slice.begin));
    const bool all = rank == 1 || ranks == 1;
    whole.assign(all ? 3 : 0, 0.5);
    state.shards = {{{"dealt", DataType::float64, {2, 5}, part.data()}, slice},
                    {{"one's", DataType::float64, {3}, whole.data()}, {0, whole.size()}}};
  }
};

TEST_F(Checkpoints, PutArraysTogetherThatAreDealtOutAndDealThemOutToAnyNumberOfRanks) {
  for (const int ranks : {1, 3, 11}) {
    run_communicators(ranks, [&](Communicator& communicator) {
      Checkpointer checkpointer(communicator, path_);
      Shards shards(communicator);
      checkpointer.save({}, shards.state);
      std::ranges::fill(shards.part, -1.0);  // training goes on at once
      checkpointer.finish();
    });
    for (const int others : {1, 4})
      run_communicators(others, [&](Communicator& communicator) {
        Shards shards(communicator);
        const Shards expected(communicator);
        std::ranges::fill(shards.part, -1.0);
        std::ranges::fill(shards.whole, -1.0);
        load_checkpoint(communicator, path_, shards.state);
        EXPECT_EQ(shards.part, expected.part) << ranks << " ranks, then " << others;
        EXPECT_EQ(shards.whole, expected.whole);
      });
  }
}

TEST_F(Checkpoints, KeepTheSumOfResidualsOnAnyNumberOfRanks) {
  const auto residual_of = [](Rank rank) {
    std::vector<float> residual(7);
    std::iota(residual.begin(), residual.end(), 100.0F * static_cast<float>(rank + 1));
    return residual;
  };
  const auto state_of = [](std::vector<float>& residual) {
    return TrainingState{.settings = kSettings,
                         .notes = {},
                         .arrays = {},
                         .shards = {},
                         .residuals = {{"left", DataType::float32, {7}, residual.data()}}};
  };
  run_communicators(3, [&](Communicator& communicator) {
    Checkpointer checkpointer(communicator, path_);
    std::vector<float> residual = residual_of(communicator.rank());
    checkpointer.save({}, state_of(residual));
    checkpointer.finish();
  });
  for (const int ranks : {1, 2, 3, 4})
    run_communicators(ranks, [&](Communicator& communicator) {
      std::vector<float> residual(7, -1.0F);
      load_checkpoint(communicator, path_, state_of(residual));
      if (ranks == 3) {
        EXPECT_EQ(residual, residual_of(communicator.rank()));
      }
      communicator.allreduce(std::span(residual), ReduceOp::sum);
      for (std::size_t i = 0; i < 7; ++i)
        EXPECT_EQ(residual[i], 600.0F + 3.0F * static_cast<float>(i)) << ranks << " ranks";
    });
  std::vector<float> longer(8);
  TrainingState other = state_of(longer);
  other.residuals[0].shape = {8};
  run_communicators(2, [&](Communicator& communicator) {
    expect_error(ErrorCode::usage, {"left"}, [&] { load_checkpoint(communicator, path_, other); });
  });
}

TEST_F(Checkpoints, RefuseShardsThatDoNotCoverTheirArray) {
  for (const std::exception_ptr& error : errors_of_communicators(3, [&](Communicator& ranks) {
         Checkpointer checkpointer(ranks, path_);
         Shards shards(ranks);
         if (ranks.rank() == 1) --shards.state.shards[0].slice.count;
         checkpointer.save({}, shards.state);
       }))
    expect_error(ErrorCode::usage, {"'dealt'", "exactly once"},
                 [&] { std::rethrow_exception(error); });
}

// ── Damage

TEST_F(Checkpoints, ThatAreDamagedAreNamedAndPassedOver) {
  save({10, 20, 30});
  write("checkpoint-3.safetensors", read_file(file("checkpoint-3.safetensors")).substr(1));
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(load(2), 20);
  const std::string warning = ::testing::internal::GetCapturedStderr();
  for (const char* part :
       {"warning", "checkpoint-3.safetensors' cannot be used", "checkpoint-2.json', of step 20"})
    EXPECT_NE(warning.find(part), std::string::npos) << warning;
  EXPECT_EQ(warning.find("warning"), warning.rfind("warning")) << "said once";

  save({40});
  EXPECT_EQ(load(), 40);
}

TEST_F(Checkpoints, AreRefusedForAnyDamage) {
  save({1});
  for (const char* name : {"checkpoint-1.json", "checkpoint-1.safetensors"}) {
    const std::string whole = read_file(file(name));
    const auto refused_as = [&](const std::string& contents) {
      write(name, contents);
      expect_error(ErrorCode::corrupt_file, {name, "cannot be used"},
                   [&] { CheckpointFolder(path_).load(1); });
    };
    refused_as("");
    refused_as(whole + "x");
    for (std::size_t i = 0; i < whole.size(); i += 7) {
      std::string bytes = whole;
      bytes[i] ^= 4;
      const bool blank = std::isspace(whole[i]) != 0 && std::isspace(bytes[i]) != 0;
      if (!blank) refused_as(bytes);
      if (i % 5 == 0) refused_as(whole.substr(0, i));
    }
    write(name, whole);
  }
  std::filesystem::remove(file("checkpoint-1.safetensors"));
  expect_refused(ErrorCode::corrupt_file, {"checkpoint-1.safetensors", "it is missing"});
}

TEST_F(Checkpoints, OfAnotherVersionAreRefused) {
  save({1});
  std::string text = read_file(file("checkpoint-1.json"));
  text.replace(text.find("rondo checkpoint 2"), 18, "rondo checkpoint 3");
  write("checkpoint-1.json", text);
  expect_refused(ErrorCode::corrupt_file, {"another version of Rondo"});
}

// ── Failures to save

TEST_F(Checkpoints, ThatCannotBeWrittenAnywhereFailAtOnce) {
  folder_.write("file", "");
  for (const char* name : {"file", "file/below"}) {
    path_ = folder_.path(name);
    for (const std::exception_ptr& error : errors_of_communicators(
             3, [&](Communicator& communicator) { Checkpointer(communicator, path_); }))
      expect_error(ErrorCode::system, {path_.substr(0, path_.find("file") + 4), "Not a directory"},
                   [&] { std::rethrow_exception(error); });
  }
}

TEST_F(Checkpoints, OfAnotherTrainingAreNotReplaced) {
  const auto check = [&](const std::string& resumed) {
    return errors_of_communicators(
        2, [&](Communicator& communicator) { check_unused(communicator, path_, resumed); });
  };
  for (const std::exception_ptr& error : check("")) EXPECT_EQ(error, nullptr) << "no folder";
  save({10});
  for (const std::string& resumed : {std::string(), folder_.path("absent")})
    for (const std::exception_ptr& error : check(resumed))
      expect_error(ErrorCode::usage, {path_, "another training", "another folder"},
                   [&] { std::rethrow_exception(error); });
  for (const std::exception_ptr& error : check(path_ + "/.")) EXPECT_EQ(error, nullptr);
}

TEST_F(Checkpoints, SweepWhatAKilledSaveLeft) {
  save({10});
  write("checkpoint-2.safetensors", "no manifest");
  write("checkpoint-3.json.tmp", "half of one");
  write("notes.txt", "somebody's own");
  save({20});
  EXPECT_EQ(files(), (std::vector<std::string>{"checkpoint-1.json", "checkpoint-1.safetensors",
                                               "checkpoint-2.json", "checkpoint-2.safetensors",
                                               "notes.txt"}));
}

/// Saves step 20 over step 10 with a fault; whether it struck. Both ranks must be told, nothing but
/// whole checkpoints be left, and the next save succeed.
class CheckpointFaults : public Checkpoints {
 protected:
  bool strike(const FileFaults::Fault& fault) {
    path_ = folder_.path(fmt::format("saved-{}", count_++));
    save({10});
    faults_.strike(fault);
    const auto errors = errors_of_communicators(2, [&](Communicator& communicator) {
      Checkpointer checkpointer(communicator, path_, 1);
      Model model(20);
      checkpointer.save(model.position(), model.state());
      checkpointer.finish();
    });
    faults_.stop_striking();
    const std::string struck = faults_.struck();
    const std::string where = fmt::format("call {}, {}, error {}", fault.n, struck, fault.error);
    const bool harmless = fault.error == 0 || fault.error == EINTR || struck.empty();
    for (const std::exception_ptr& error : errors) {
      EXPECT_EQ(error == nullptr, harmless) << where;
      if (error) expect_error(ErrorCode::system, {path_}, [&] { std::rethrow_exception(error); });
    }
    const std::int64_t loaded = load_newest();
    EXPECT_TRUE(loaded == 20 || (!harmless && loaded == 10)) << where << ": step " << loaded;
    for (const std::string& name : files())
      EXPECT_TRUE(struck == "unlink" || !name.ends_with(".tmp")) << where;
    save({30}, 1);
    EXPECT_EQ(load(), 30) << where;
    EXPECT_EQ(files().size(), 2U) << where;
    return !struck.empty();
  }

 private:
  int count_ = 0;
};

TEST_F(CheckpointFaults, OfEverySystemCallAreReportedAndLeaveTheOldOrTheNew) {
  int n = 0;
  while (strike({"", n, ENOSPC})) ++n;
  EXPECT_GE(n, 20) << "the calls of a save";
}

TEST_F(CheckpointFaults, ThatAreNoneAreNotReported) {
  for (const int error : {EINTR, 0}) {
    int n = 0;
    while (strike({"write", n, error})) ++n;
    EXPECT_GE(n, 3);
  }
}

TEST_F(Checkpoints, FailAtTheNextSaveOnEveryRankWhileTrainingGoesOn) {
  for (const std::exception_ptr& error : errors_of_communicators(3, [&](Communicator& ranks) {
         Checkpointer checkpointer(ranks, path_);
         ranks.barrier();
         if (ranks.rank() == 0) std::filesystem::remove_all(path_);
         Model model(1);
         EXPECT_NO_THROW(checkpointer.save(model.position(), model.state()));
         ranks.barrier();
         checkpointer.save(model.position(), model.state());
       }))
    expect_error(ErrorCode::system, {"saved", "No such file"},
                 [&] { std::rethrow_exception(error); });
}

// ── Kills

/// A process that saves steps first, first + 1, … with a pause before each call to the system, and
/// tells of each when it is on the disk.
class Saver {
 public:
  Saver(const std::string& folder, FileFaults& faults, std::int64_t first) {
    if (pipe(pipe_) != 0) throw std::runtime_error("no pipe");
    child_ = fork();
    if (child_ != 0) return;
    faults.before_each([] { std::this_thread::sleep_for(std::chrono::microseconds(50)); });
    try {
      run_communicators(1, [&](Communicator& communicator) { save(communicator, folder, first); });
    } catch (...) {
    }
    _exit(1);
  }
  /// The next step that is on the disk; empty: the process is dead.
  std::optional<std::int64_t> next_saved() {
    std::int64_t step = 0;
    if (read(pipe_[0], &step, sizeof step) != sizeof step) return {};
    return step;
  }
  void kill() {
    ::kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
    close(pipe_[1]);
  }
  ~Saver() { close(pipe_[0]); }
  Saver(const Saver&) = delete;
  Saver& operator=(const Saver&) = delete;

 private:
  void save(Communicator& communicator, const std::string& folder, std::int64_t first) {
    Checkpointer checkpointer(communicator, folder, 2);
    for (std::int64_t step = first;; ++step) {
      Model model(step);
      checkpointer.save(model.position(), model.state());
      checkpointer.finish();
      if (::write(pipe_[1], &step, sizeof step) != sizeof step) return;
    }
  }

  int pipe_[2];
  pid_t child_ = 0;
};

TEST_F(Checkpoints, AreTheOldOrTheNewAfterAKillAtAnyMoment) {
  std::mt19937 draw(std::random_device{}());
  std::int64_t step = 0;
  for (int kill = 0; kill < 25; ++kill) {
    Saver saver(path_, faults_, step + 1);
    std::int64_t saved = saver.next_saved().value_or(-1);
    ASSERT_EQ(saved, step + 1);
    std::this_thread::sleep_for(std::chrono::microseconds(draw() % 10'000));
    saver.kill();
    while (const auto next = saver.next_saved()) saved = *next;
    step = load_newest();
    ASSERT_GE(step, saved) << "after kill " << kill;
    ASSERT_LE(step, saved + 1) << "after kill " << kill;
  }
  save({step + 1}, 2);
  EXPECT_EQ(files().size(), 4U) << "nothing but two checkpoints";
}

}  // namespace
}  // namespace rondo::train
