#include "arguments.hpp"

#include <algorithm>
#include <cstdio>
#include <map>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <rondo/error.hpp>

#include "bytes_option.hpp"
#include "collectives/registry.hpp"

namespace rondo::bench {

namespace {

template <class T>
std::map<std::string, T> by_name(int count) {
  std::map<std::string, T> names;
  for (int i = 0; i < count; ++i) names.emplace(name_of(static_cast<T>(i)), static_cast<T>(i));
  return names;
}

std::map<std::string, DataType> types_by_name() {
  auto names = by_name<DataType>(kDataTypes);
  names.insert({{"i8", DataType::int8},
                {"u8", DataType::uint8},
                {"i32", DataType::int32},
                {"u32", DataType::uint32},
                {"i64", DataType::int64},
                {"u64", DataType::uint64},
                {"f16", DataType::float16},
                {"bf16", DataType::bfloat16},
                {"f32", DataType::float32},
                {"f64", DataType::float64}});
  return names;
}

std::map<std::string, Collective> collectives_by_name() {
  std::map<std::string, Collective> names;
  for (const Collective collective :
       {Collective::allreduce, Collective::reduce_scatter, Collective::allgather,
        Collective::broadcast, Collective::reduce, Collective::barrier})
    names.emplace(name_of(collective), collective);
  return names;
}

/// "rondo", "rondo-shared", "mpi", "gloo", "limit", "rondo:NAME"; else says what is wrong.
std::string check_impl(const std::string& impl) {
  for (const char* known : {"rondo", "rondo-shared", "mpi", "gloo", "limit"})
    if (impl == known) {
      if (impl == "gloo" && !has_gloo())
        return "gloo is not built in: install libgloo-dev and configure again";
      return {};
    }
  constexpr std::string_view kPrefix = "rondo:";
  std::string names;
  for (const auto& algorithm : collectives::all_algorithms()) {
    if (impl.starts_with(kPrefix) && impl.substr(kPrefix.size()) == algorithm.name) return {};
    const std::string name(algorithm.name);
    if (names.find(name) == std::string::npos) names += (names.empty() ? "" : ", ") + name;
  }
  return fmt::format(
      "'{}' is no implementation; there are rondo, rondo-shared, mpi, gloo, limit, and rondo:NAME "
      "with NAME one of {}",
      impl, names);
}

void add_options(CLI::App& app, Arguments& arguments) {
  app.add_option("--collective", arguments.collective, "what to measure")
      ->transform(CLI::CheckedTransformer(collectives_by_name()))
      ->option_text(
          "NAME  allreduce (default), reduce_scatter, allgather, broadcast, reduce, barrier");
  app.add_option("--min", arguments.min_bytes,
                 "smallest message (default 8, or what the collective needs)")
      ->transform(tools::as_bytes());
  app.add_option("--max", arguments.max_bytes, "largest message (default 64M)")
      ->transform(tools::as_bytes());
  app.add_option("--factor", arguments.factor, "each size is so many times the last (default 2)")
      ->check(CLI::Range(2, 1 << 20));
  app.add_option("--dtype", arguments.types, "f32 (default), bf16, …, separated by commas")
      ->delimiter(',')
      ->transform(CLI::CheckedTransformer(types_by_name()))
      ->option_text("TYPE,…");
  app.add_option("--op", arguments.ops, "sum (default), prod, min, max, avg")
      ->delimiter(',')
      ->transform(CLI::CheckedTransformer(by_name<ReduceOp>(kReduceOps)))
      ->option_text("OP,…");
  app.add_option("--impl", arguments.impls,
                 "rondo, rondo-shared (buffers that the ranks of a node share), rondo:ALGORITHM, "
                 "mpi, gloo, limit (what memory allows); default rondo,rondo-shared,mpi")
      ->delimiter(',')
      ->check(CLI::Validator([](std::string& impl) { return check_impl(impl); }, ""))
      ->option_text("IMPL,…");
  app.add_flag("--in-place", arguments.in_place, "input and output are the same memory");
  app.add_option("--device", arguments.on_device,
                 "where the buffers lie: cpu (default) or cuda, each rank's on a GPU of its own "
                 "as far as they reach")
      ->transform(
          CLI::CheckedTransformer(std::map<std::string, bool>{{"cpu", false}, {"cuda", true}}))
      ->option_text("NAME");
  auto* iterations =
      app.add_option("--iterations", arguments.budget.iterations, "so many samples of each")
          ->check(CLI::Range(1, 1'000'000));
  app.add_option("--seconds", arguments.budget.seconds,
                 "how long to measure each size, for all implementations together (default 0.5)")
      ->check(CLI::Range(0.0, 3600.0))
      ->excludes(iterations);
  app.add_flag("--cold", arguments.budget.cold, "fill the caches with something else before each");
  app.add_option("--json", arguments.json, "write the results here, too")->option_text("FILE");
  app.add_option("--csv", arguments.csv, "write the results here, too")->option_text("FILE");
}

/// What is wrong with the algorithms that are named for this collective.
std::string check_algorithms(const Arguments& arguments) {
  for (const std::string& impl : arguments.impls) {
    const std::string name = algorithm_of(impl);
    if (name.empty()) continue;
    if (arguments.collective == Collective::barrier)
      return fmt::format("--impl {}: a barrier has no algorithms; take rondo", impl);
    try {
      collectives::find_algorithm(arguments.collective, name);
    } catch (const Error& error) {
      return fmt::format("--impl {}: {}", impl, error.what());
    }
  }
  return {};
}

std::string check_sizes(const Arguments& arguments) {
  if (arguments.min_bytes > arguments.max_bytes)
    return fmt::format("--min {} is more than --max {}", arguments.min_bytes, arguments.max_bytes);
  for (const DataType type : arguments.types)
    if (arguments.collective != Collective::barrier && arguments.min_bytes < size_of(type))
      return fmt::format("--min {}: that is less than one {}, which has {} bytes",
                         arguments.min_bytes, name_of(type), size_of(type));
  return {};
}

std::string check_device(const Arguments& arguments) {
  for (const std::string& impl : arguments.impls)
    if (arguments.on_device && (impl == "rondo-shared" || impl == "gloo" || impl == "limit"))
      return fmt::format("--impl {}: it has no buffers on devices; take rondo, rondo:NAME or mpi",
                         impl);
  return {};
}

std::string check(const Arguments& arguments) {
  if (const std::string wrong = check_device(arguments); !wrong.empty()) return wrong;
  const std::string wrong = check_sizes(arguments);
  return wrong.empty() ? check_algorithms(arguments) : wrong;
}

}  // namespace

std::vector<std::size_t> Arguments::sizes(int ranks) const {
  if (collective == Collective::barrier) return {0};
  std::size_t first = min_bytes;
  for (const DataType type : types)
    if (!min_is_given) first = std::max(first, smallest_bytes(collective, type, ranks));
  std::vector<std::size_t> sizes;
  for (std::size_t bytes = first; bytes <= max_bytes; bytes *= factor) sizes.push_back(bytes);
  return sizes;
}

std::string algorithm_of(const std::string& impl) {
  const std::size_t colon = impl.find(':');
  return colon == std::string::npos ? "" : impl.substr(colon + 1);
}

bool Arguments::needs_rondo() const {
  return on_device ||
         std::any_of(impls.begin(), impls.end(), [](const auto& impl) { return impl != "mpi"; });
}

bool parse(int argc, char** argv, bool speaks, Arguments& arguments, int& status) {
  CLI::App app("Measures collectives: Rondo's beside MPI's, Gloo's and what memory allows.");
  add_options(app, arguments);
  try {
    app.parse(argc, argv);
    arguments.min_is_given = app.count("--min") > 0;
    if (arguments.on_device && app.count("--impl") == 0) arguments.impls = {"rondo", "mpi"};
    if (const std::string wrong = check(arguments); !wrong.empty())
      throw CLI::ValidationError(wrong);
  } catch (const CLI::ParseError& error) {
    status = error.get_exit_code();
    if (speaks) app.exit(error);
    return false;
  }
  for (int i = 0; i < argc; ++i) arguments.command += (i == 0 ? "" : " ") + std::string(argv[i]);
  return true;
}

}  // namespace rondo::bench
