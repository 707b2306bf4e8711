// Times all-reduces (float32 sum, out of place) on a cluster that SimGrid simulates. Started by
// bench/simulate.py; for smpirun without privatisation: the ranks are threads of control of one
// process, so they share what is static.
//
// Simulated time is exact and the same in every run, so each row is one all-reduce. All ranks begin
// it at the same moment; its time ends with the last of them.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <rondo/rondo.hpp>

#include "bare_plan.hpp"
#include "collectives/selector.hpp"

namespace {

using nlohmann::ordered_json;

struct Arguments {
  std::size_t min = 8;
  std::size_t max = 8 << 20;
  std::size_t factor = 4;
  std::vector<std::string> impls{"rondo", "mpi"};
  std::string mpi_name = "mpi";
  std::size_t segment = 0;
  std::string json;
};

void add_options(CLI::App& app, Arguments& arguments) {
  const CLI::AsSizeValue bytes(false);
  app.add_option("--min", arguments.min, "Smallest message")->transform(bytes);
  app.add_option("--max", arguments.max, "Largest message")->transform(bytes);
  app.add_option("--factor", arguments.factor, "From one size to the next")
      ->check(CLI::Range(2, 1024));
  app.add_option("--impl", arguments.impls,
                 "rondo, rondo:ALGORITHM, plan (no agreement), plan:ALGORITHM or mpi")
      ->delimiter(',');
  app.add_option("--mpi-name", arguments.mpi_name, "What mpi is called in the results");
  app.add_option("--segment", arguments.segment, "Options::segment_bytes")->transform(bytes);
  app.add_option("--json", arguments.json, "Write the results to this file");
}

class World {
 public:
  World() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  int rank() const { return rank_; }
  int size() const { return size_; }

  /// Until the next full second of simulated time, which no rank can have passed.
  void meet() const {
    const double now = MPI_Wtime();
    const timespec rest{.tv_sec = 0, .tv_nsec = std::lround((std::floor(now) + 1 - now) * 1e9)};
    smpi_nanosleep(&rest, nullptr);
  }

  double largest(double mine) const {
    double all = 0;
    MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    return all;
  }

 private:
  int rank_ = 0;
  int size_ = 0;
};

/// Whole numbers so small that every sum is exact. Rank r's input begins at number r, so that one
/// array serves all ranks, and yet a missing or doubled contribution shows.
class Numbers {
 public:
  Numbers(std::size_t count, int ranks) : ranks_(ranks) {
    for (std::size_t i = 0; i < count + static_cast<std::size_t>(ranks); ++i)
      values_.push_back(static_cast<float>(i * i % 13 + i % 7));
  }
  const float* of(int rank) const { return values_.data() + rank; }

  std::size_t wrong(const float* result, std::size_t count) const {
    double sum = 0;
    for (int rank = 0; rank < ranks_; ++rank) sum += of(rank)[0];
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (result[i] != static_cast<float>(sum)) ++wrong;
      sum += of(ranks_)[i] - of(0)[i];
    }
    return wrong;
  }

 private:
  int ranks_;
  std::vector<float> values_;
};

struct Sample {
  double seconds;
  double wrong;
};

/// "rondo:ring" without the agreement beside the data is "plan:ring".
struct Implementation {
  explicit Implementation(const std::string& text)
      : text(text),
        family(text.substr(0, text.find(':'))),
        algorithm(text.size() == family.size() ? "" : text.substr(family.size() + 1)) {
    if (family != "rondo" && family != "plan" && family != "mpi")
      throw rondo::Error(rondo::ErrorCode::usage,
                         fmt::format("--impl {}: neither rondo nor plan nor mpi", text));
  }

  std::string text;
  std::string family;     // rondo, plan or mpi
  std::string algorithm;  // empty where the selector is to choose
};

class Benchmark {
 public:
  explicit Benchmark(const Arguments& arguments)
      : arguments_(arguments), result_(arguments.max / sizeof(float)) {
    for (const std::string& text : arguments.impls) prepare(implementations_.emplace_back(text));
    static std::unique_ptr<Numbers> numbers;  // one for all ranks
    if (!numbers) numbers = std::make_unique<Numbers>(result_.size(), world_.size());
    numbers_ = numbers.get();
  }

  void run() {
    // SMPI's collectives make communicators of their own in their first call.
    for (const Implementation& impl : implementations_) reduce(impl, 1);
    for (std::size_t bytes = arguments_.min; bytes <= arguments_.max; bytes *= arguments_.factor)
      for (const Implementation& impl : implementations_) report(impl, bytes, measure(impl, bytes));
  }

  const ordered_json& rows() const { return rows_; }
  const World& world() const { return world_; }

 private:
  /// Only what is needed: with 1,024 ranks SMPI works a minute for each communicator.
  void prepare(const Implementation& impl) {
    if (impl.family == "rondo" && !communicator_)
      communicator_.emplace(MPI_COMM_WORLD, rondo::Options{.segment_bytes = arguments_.segment});
    if (impl.family == "plan" && !plan_) plan_.emplace(MPI_COMM_WORLD);
  }

  Sample measure(const Implementation& impl, std::size_t bytes) {
    const std::size_t count = bytes / sizeof(float);
    std::fill_n(result_.begin(), count, -1.0F);
    world_.meet();
    const double start = MPI_Wtime();
    reduce(impl, count);
    const double seconds = MPI_Wtime() - start;
    const auto wrong = static_cast<double>(numbers_->wrong(result_.data(), count));
    return {world_.largest(seconds), world_.largest(wrong)};
  }

  void reduce(const Implementation& impl, std::size_t count) {
    const float* input = numbers_->of(world_.rank());
    if (impl.family == "mpi")
      MPI_Allreduce(input, result_.data(), static_cast<int>(count), MPI_FLOAT, MPI_SUM,
                    MPI_COMM_WORLD);
    else if (impl.family == "plan")
      plan_->allreduce(choice(impl, count * sizeof(float)), input, result_.data(), count);
    else
      communicator_->allreduce(rondo::ConstBuffer(input, count, rondo::DataType::float32),
                               rondo::Buffer(result_.data(), count, rondo::DataType::float32),
                               rondo::ReduceOp::sum, {.algorithm = impl.algorithm});
  }

  rondo::collectives::Choice choice(const Implementation& impl, std::size_t bytes) const {
    rondo::collectives::Request request;
    request.ranks = world_.size();
    request.bytes = bytes;
    request.per_call = impl.algorithm;
    request.segment_bytes = arguments_.segment;
    return rondo::collectives::select(request);
  }

  void report(const Implementation& impl, std::size_t bytes, const Sample& sample) {
    if (world_.rank() != 0) return;
    const double us = sample.seconds * 1e6;
    const double algbw = static_cast<double>(bytes) / sample.seconds / 1e9;
    const double n = world_.size();
    const bool mpi = impl.family == "mpi";
    const std::string name = mpi ? arguments_.mpi_name : impl.text;
    rows_.push_back({{"impl", name},
                     {"collective", "allreduce"},
                     {"dtype", "float32"},
                     {"op", "sum"},
                     {"ranks", world_.size()},
                     {"nodes", world_.size()},
                     {"bytes", bytes},
                     {"count", bytes / sizeof(float)},
                     {"in_place", false},
                     {"algorithm", mpi ? "" : choice(impl, bytes).algorithm->name},
                     {"time_us", {{"min", us}, {"p50", us}, {"p99", us}, {"max", us}}},
                     {"algbw_gbs", algbw},
                     {"busbw_gbs", algbw * 2 * (n - 1) / n},
                     {"wrong", sample.wrong}});
    fmt::print("{:>8} B  {:<28} {:>12.2f} us  {}\n", bytes, name, us,
               sample.wrong > 0 ? "WRONG" : "");
    std::fflush(stdout);
  }

  Arguments arguments_;
  World world_;
  const Numbers* numbers_ = nullptr;
  std::vector<float> result_;
  std::optional<rondo::Communicator> communicator_;
  std::optional<rondo::bench::BarePlan> plan_;
  std::vector<Implementation> implementations_;
  ordered_json rows_ = ordered_json::array();
};

int run(const Arguments& arguments) {
  Benchmark benchmark(arguments);
  benchmark.run();
  if (benchmark.world().rank() != 0 || arguments.json.empty()) return 0;
  std::ofstream(arguments.json) << benchmark.rows().dump(1) << '\n';
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("All-reduces on a simulated cluster");
  add_options(app, arguments);
  CLI11_PARSE(app, argc, argv);
  MPI_Init(&argc, &argv);
  int status = 0;
  try {
    status = run(arguments);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return status;
}
