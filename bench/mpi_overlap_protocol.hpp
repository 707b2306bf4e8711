#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backward.hpp"
#include "mpi_gradient_exchange.hpp"

namespace rondo::bench {

/// What one exchange took; times in seconds, medians over the samples of the slowest rank's.
struct OverlapRow {
  std::string impl;
  double step = 0;           // backward and exchange together
  double fastest_step = 0;   // of all samples
  double communication = 0;  // the exchange alone, of gradients that are there already
  double exposed = 0;        // by how much a step is longer than the backward alone before it
  double processor = 0;      // time of a rank's processors in a step, mean over ranks
  std::size_t wrong = 0;     // elements, over all ranks and samples

  /// The part of the communication that is hidden behind backward: 1 is all of it.
  double overlap() const { return communication > 0 ? 1 - exposed / communication : 1; }
};

struct OverlapResult {
  double compute = 0;            // backward alone, in seconds, measured as the steps are
  std::uint64_t operations = 0;  // floating-point, of a layer
  int samples = 0;
  std::vector<OverlapRow> rows;

  /// Backward or the fastest exchange, whichever takes longer: no step can be shorter.
  double bound() const;
};

struct OverlapBudget {
  double seconds = 20;  // for all samples
  int steps = 0;        // if not 0: so many samples of each, however long they take
};

/// Measures exchanges in turn, step by step, in one process on all ranks of MPI_COMM_WORLD:
/// backward alone, then each exchange with backward and without.
class OverlapProtocol {
 public:
  /// Collective.
  OverlapProtocol(const std::vector<std::string>& impls, Communicator& world,
                  const ExchangeOptions& options);

  /// Makes backward alone take so many seconds. Collective.
  void calibrate(double seconds);
  /// What the first exchange takes without backward. Collective.
  double communication();
  /// Collective; the result is alike on all ranks.
  OverlapResult measure(const OverlapBudget& budget);

 private:
  struct Entry {
    std::unique_ptr<GradientExchange> exchange;
    std::vector<double> steps{};
    std::vector<double> alone{};
    std::vector<double> exposed{};
    std::vector<double> processor{};
    std::size_t wrong = 0;
  };

  struct Sample {
    double seconds = 0;
    double processor = 0;
    std::size_t wrong = 0;
  };

  Sample sample(GradientExchange& exchange, std::uint64_t passes);
  void backward(GradientExchange& exchange, std::uint64_t passes);
  void round();

  std::size_t layers_;
  Rank rank_;
  int ranks_;
  std::uint64_t passes_ = 0;  // of a layer
  std::uint64_t turn_ = 0;
  Computation computation_;
  Entry none_;
  std::vector<Entry> entries_;
};

}  // namespace rondo::bench
