// allreduce_bench: how fast collectives are here. docs/benchmarks.md explains what is measured.
#include <malloc.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <rondo/rondo.hpp>

#include "arguments.hpp"
#include "contender.hpp"
#include "core/output_file.hpp"
#include "device/runtime.hpp"
#include "mpi_protocol.hpp"
#include "report.hpp"

namespace rondo::bench {
namespace {

/// Everybody's best: memory that is freed and allocated again must not fault in anew each time.
void keep_freed_memory() {
  constexpr int kNever = 1 << 30;
  mallopt(M_MMAP_THRESHOLD, kNever);
  mallopt(M_TRIM_THRESHOLD, kNever);
}

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int world_size() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

/// Collective.
int rank_on_node() {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int rank = 0;
  MPI_Comm_rank(node, &rank);
  MPI_Comm_free(&node);
  return rank;
}

/// The device of this rank: each has its own, as far as they reach. Collective at the first call;
/// throws Error(cuda) where there is none.
int device_here() {
  static const int device = [] {
    const int rank = rank_on_node();
    return rank % device::cuda_runtime().device_count();
  }();
  return device;
}

/// Collective.
int nodes_of_world() {
  int nodes = rank_on_node() == 0 ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &nodes, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return nodes;
}

/// A folder that all ranks of the machine see while this lives.
class MeetingPlace {
 public:
  MeetingPlace() {
    std::string pattern = (std::filesystem::temp_directory_path() / "rondo-bench-XXXXXX").string();
    pattern.resize(kLongest);
    if (world_rank() == 0 && mkdtemp(pattern.data()) == nullptr)
      throw Error(ErrorCode::system,
                  "cannot make a folder for Gloo's ranks to meet in; set TMPDIR");
    MPI_Bcast(pattern.data(), kLongest, MPI_CHAR, 0, MPI_COMM_WORLD);
    folder_.assign(pattern.data());  // to its end, not the array's
  }
  ~MeetingPlace() {
    std::error_code ignored;
    if (world_rank() == 0) std::filesystem::remove_all(folder_, ignored);
  }
  MeetingPlace(const MeetingPlace&) = delete;
  MeetingPlace& operator=(const MeetingPlace&) = delete;

  const std::string& folder() const { return folder_; }

 private:
  static constexpr int kLongest = 4096;
  std::string folder_;
};

/// The contenders of this job, and what they need.
class Field {
 public:
  Field(const Arguments& arguments, Communicator* world) : arguments_(arguments) {
    for (const std::string& impl : arguments.impls) contenders_.push_back(make(impl, world));
  }

  std::vector<Contender*> contenders() const {
    std::vector<Contender*> all;
    for (const auto& contender : contenders_) all.push_back(contender.get());
    return all;
  }

 private:
  std::unique_ptr<Contender> make(const std::string& impl, Communicator* world) {
    if (arguments_.on_device) return make_on_device(impl, *world);
    if (impl == "mpi") return make_mpi();
    if (impl == "limit") return make_limit(*world);
    if (impl == "gloo") {
      const MeetingPlace place;
      auto gloo = make_gloo(world->rank(), world->size(), place.folder(), world->nodes() == 1);
      MPI_Barrier(MPI_COMM_WORLD);
      return gloo;
    }
    return make_rondo(impl, *world,
                      {.algorithm = algorithm_of(impl), .shared = impl == "rondo-shared"});
  }

  std::unique_ptr<Contender> make_on_device(const std::string& impl, Communicator& world) {
    if (impl == "mpi") return make_mpi_on_device(device::cuda_runtime(), device_here());
    return make_rondo_on_device(impl, world, algorithm_of(impl), device::cuda_runtime(),
                                device_here());
  }

  const Arguments& arguments_;
  std::vector<std::unique_ptr<Contender>> contenders_;
};

Meta meta_of(const Arguments& arguments, Communicator* world) {
  Meta meta = meta_here(world_size(), world == nullptr ? nodes_of_world() : world->nodes(),
                        arguments.command);
  if (arguments.on_device) meta.memory = "cuda";
  return meta;
}

/// Says which implementations can't do this.
void print_missing(const Arguments& arguments, const Workload& work, const std::vector<Row>& rows) {
  for (const std::string& impl : arguments.impls)
    if (std::none_of(rows.begin(), rows.end(), [&](const Row& row) { return row.impl == impl; }))
      fmt::print(stderr, "allreduce_bench: {} is left out: it has no {}{} of {}{}\n", impl,
                 work.in_place ? "in-place " : "", name_of(work.collective), name_of(work.type),
                 reduces(work.collective) ? fmt::format(", {}", name_of(work.op)) : "");
}

void write(const std::string& path, const std::string& text) {
  if (path.empty()) return;
  const std::array<std::string_view, 1> pieces{text};
  core::replace_file(path, pieces);
}

/// The rows of all workloads, on all ranks.
std::vector<Row> run_all(const Arguments& arguments, Protocol& protocol, bool speaks) {
  std::vector<Row> all;
  for (const DataType type : arguments.types)
    for (const ReduceOp op : arguments.ops)
      for (const std::size_t bytes : arguments.sizes(world_size())) {
        Workload work{.collective = arguments.collective, .type = type, .op = op};
        work.ranks = world_size();
        work.rank = world_rank();
        work.in_place = arguments.in_place;
        work.count = count_for(work.collective, type, bytes, work.ranks);
        const std::vector<Row> rows = protocol.measure(work, arguments.budget);
        if (speaks && !rows.empty()) print_rows(rows);
        if (speaks && bytes == arguments.sizes(world_size()).front())
          print_missing(arguments, work, rows);
        all.insert(all.end(), rows.begin(), rows.end());
      }
  return all;
}

int run(const Arguments& arguments, Communicator* world) {
  const bool speaks = world_rank() == 0;
  const Meta meta = meta_of(arguments, world);
  if (speaks) {
    // Before anything is measured, so that no result is lost for want of a place.
    for (const std::string& path : {arguments.json, arguments.csv})
      if (!path.empty()) core::check_replaceable(path);
    print_head(meta);
  }
  Field field(arguments, world);
  const std::size_t most = std::max<std::size_t>(arguments.max_bytes, 64);
  Protocol protocol = arguments.on_device ? Protocol(field.contenders(), most,
                                                     device::cuda_runtime(), device_here())
                                          : Protocol(field.contenders(), most);
  const std::vector<Row> rows = run_all(arguments, protocol, speaks);
  if (speaks) {
    write(arguments.json, json_text(meta, rows));
    write(arguments.csv, csv_text(meta, rows));
  }
  if (rows.empty()) {
    if (speaks) fmt::print(stderr, "allreduce_bench: there was nothing to measure\n");
    return EXIT_FAILURE;
  }
  std::size_t wrong = 0;
  for (const Row& row : rows) wrong += row.wrong;
  if (wrong == 0) return EXIT_SUCCESS;
  if (speaks) fmt::print(stderr, "allreduce_bench: {} elements were wrong\n", wrong);
  return EXIT_FAILURE;
}

/// As a program without Rondo: MPI was asked for no threads.
int run_mpi_only(const Arguments& arguments, int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = EXIT_FAILURE;
  try {
    status = run(arguments, nullptr);
  } catch (const std::exception& error) {
    fmt::print(stderr, "allreduce_bench: {}\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  MPI_Finalize();
  return status;
}

}  // namespace
}  // namespace rondo::bench

int main(int argc, char** argv) {
  using namespace rondo;
  bench::keep_freed_memory();
  bench::Arguments arguments;
  int status = EXIT_SUCCESS;
  // Before MPI starts, so that a slip costs nothing; one rank is enough to say it.
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  if (rank == nullptr) rank = std::getenv("PMI_RANK");
  const bool speaks = rank == nullptr || std::string_view(rank) == "0";
  if (!bench::parse(argc, argv, speaks, arguments, status)) return status;
  if (!arguments.needs_rondo()) return bench::run_mpi_only(arguments, argc, argv);
  return run_main(argc, argv, [](int count, char** values) {
    const Environment environment(count, values);
    Communicator world(MPI_COMM_WORLD);
    bench::Arguments again;
    int ignored = EXIT_SUCCESS;
    bench::parse(count, values, false, again, ignored);
    return bench::run(again, &world);
  });
}
