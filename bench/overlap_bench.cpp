// overlap_bench: how much of the gradients' reduction hides behind backward. docs/benchmarks.md
// explains what is measured.
#include <sched.h>

#include <array>
#include <cstdlib>
#include <string_view>
#include <thread>

#include <fmt/core.h>

#include <rondo/rondo.hpp>

#include "core/output_file.hpp"
#include "meta.hpp"
#include "mpi_overlap_protocol.hpp"
#include "overlap_arguments.hpp"
#include "overlap_report.hpp"

namespace rondo::bench {
namespace {

/// This process's rank as its launcher has it, since MPI doesn't run yet; 0 without a launcher.
int launched_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK"})
    if (const char* rank = std::getenv(name)) return std::atoi(rank);
  return 0;
}

/// Before there are threads, so that they inherit it.
void bind_to_processor(int rank) {
  cpu_set_t processors;
  CPU_ZERO(&processors);
  CPU_SET(static_cast<unsigned>(rank) % std::thread::hardware_concurrency(), &processors);
  if (sched_setaffinity(0, sizeof processors, &processors) != 0)
    throw Error(ErrorCode::system, "--bind: this process may not choose its processor");
}

std::size_t wrong_elements(const OverlapResult& result) {
  std::size_t wrong = 0;
  for (const OverlapRow& row : result.rows) wrong += row.wrong;
  return wrong;
}

int run(const OverlapArguments& arguments, Communicator& world) {
  constexpr double kMilli = 1e-3;
  const bool speaks = world.rank() == 0;
  const Meta meta = meta_here(world.size(), world.nodes(), arguments.command);
  // Before anything is measured, so that no result is lost for want of a place.
  if (speaks && !arguments.json.empty()) core::check_replaceable(arguments.json);

  OverlapProtocol protocol(
      arguments.impls, world,
      {.counts = arguments.shape.counts(), .bucket_bytes = arguments.bucket_bytes});
  protocol.calibrate(arguments.compute_ms > 0 ? arguments.compute_ms * kMilli
                                              : arguments.compute_ratio * protocol.communication());
  const OverlapResult result = protocol.measure(arguments.budget);

  const std::size_t wrong = wrong_elements(result);
  if (speaks) {
    print(meta, arguments, result);
    if (!arguments.json.empty()) {
      const std::string text = json_text(meta, arguments, result);
      const std::array<std::string_view, 1> pieces{text};
      core::replace_file(arguments.json, pieces);
    }
    if (wrong > 0) fmt::print(stderr, "overlap_bench: {} elements were wrong\n", wrong);
  }
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace rondo::bench

int main(int argc, char** argv) {
  using namespace rondo;
  bench::OverlapArguments arguments;
  int status = EXIT_SUCCESS;
  // Before MPI starts, so that a slip costs nothing; one rank is enough to say it.
  if (!bench::parse(argc, argv, bench::launched_rank() == 0, arguments, status)) return status;
  return run_main(argc, argv, [](int count, char** values) {
    bench::OverlapArguments again;
    int ignored = EXIT_SUCCESS;
    bench::parse(count, values, false, again, ignored);
    if (again.bind) bench::bind_to_processor(bench::launched_rank());
    const Environment environment(count, values);
    Communicator world(MPI_COMM_WORLD);
    return bench::run(again, world);
  });
}
