// main() of the tests with real MPI ranks: every rank runs every test; rank 0 prints what passes,
// each rank what fails; the exit status is that of the worst rank.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdio>
#include <string>

#include <rondo/environment.hpp>

namespace {

/// For the ranks other than 0: silent unless something fails.
class FailurePrinter : public testing::EmptyTestEventListener {
 public:
  explicit FailurePrinter(int rank) : rank_(rank) {}

  // GoogleTest holds a lock while it reports a result, so it can't be asked for the name then.
  void OnTestStart(const testing::TestInfo& test) override {
    test_ = std::string(test.test_suite_name()) + "." + test.name();
  }

  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::fprintf(stderr, "[rank %d] %s: %s:%d: %s\n", rank_, test_.c_str(),
                 result.file_name() ? result.file_name() : "?", result.line_number(),
                 result.summary());
  }

 private:
  int rank_;
  std::string test_;
};

int run_all_tests() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  if (rank != 0) {
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailurePrinter(rank));
  }
  const int mine = RUN_ALL_TESTS();
  int worst = 1;
  MPI_Allreduce(&mine, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return worst;
}

int body(int argc, char** argv) {
  const rondo::Environment mpi(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  return run_all_tests();
}

}  // namespace

int main(int argc, char** argv) { return rondo::run_main(argc, argv, &body); }
