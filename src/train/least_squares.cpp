#include <rondo/train/least_squares.hpp>

#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <rondo/error.hpp>
#include <rondo/train/agree.hpp>

#include "core/narrow.hpp"

// LAPACK, which OpenBLAS contains; its C header is a package of its own.
// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" void dpstrf_(const char* uplo, const int* n, double* a, const int* lda, int* pivots,
                        int* rank, const double* tolerance, double* work, int* info);

namespace rondo::train {
namespace {

constexpr double kSingular = 1e-11;
constexpr std::size_t kBlock = 256;  // samples in one matrix product

/// A symmetric matrix in column-major order, of which the lower triangle counts.
struct Symmetric {
  int order;
  std::vector<double> elements;

  explicit Symmetric(int order) : order(order), elements(static_cast<std::size_t>(order) * order) {}
  double& at(int row, int column) {
    return elements[row + static_cast<std::size_t>(column) * order];
  }
};

/// AᵀA, where a row of A is (features, 1, target): the normal equations and their right-hand side.
Symmetric gram_matrix(Communicator& communicator, const Dataset& data,
                      std::span<const std::size_t> samples) {
  const int order = core::narrow<int>(data.width() + 2);
  Symmetric gram(order);
  std::vector<double> rows;
  const auto add_block = [&] {
    const int count = core::narrow<int>(rows.size() / order);
    cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, order, count, 1.0, rows.data(), order, 1.0,
                gram.elements.data(), order);
    rows.clear();
  };
  for (std::size_t i = communicator.rank(); i < samples.size(); i += communicator.size()) {
    const std::span<const double> row = data.row(samples[i]);
    rows.insert(rows.end(), row.begin(), row.end());
    rows.insert(rows.end(), {1.0, data.targets[samples[i]]});
    if (rows.size() == kBlock * order) add_block();
  }
  if (!rows.empty()) add_block();
  communicator.allreduce(std::span(gram.elements), ReduceOp::sum);
  return gram;
}

[[noreturn]] void fail_singular(const Dataset& data, std::span<const int> dependent) {
  std::vector<std::string> names;
  for (const int column : dependent)
    names.push_back(column <= static_cast<int>(data.width()) ? data.feature_names[column - 1]
                                                             : "the intercept");
  throw Error(ErrorCode::usage,
              fmt::format("the least-squares solution is not unique: {} can be computed from the "
                          "other columns; leave it out",
                          fmt::join(names, ", ")));
}

/// Solves the equations for all columns of `gram` but the last, which is the right-hand side.
std::vector<double> solve(Symmetric gram, const Dataset& data) {
  const int unknowns = gram.order - 1;
  std::vector<double> right(unknowns);
  for (int i = 0; i < unknowns; ++i) right[i] = gram.at(unknowns, i);
  double largest = 0;
  for (int i = 0; i < unknowns; ++i) largest = std::max(largest, gram.at(i, i));

  // PᵀGP = LLᵀ; pivots count from 1.
  std::vector<int> pivots(unknowns);
  std::vector<double> work(2 * static_cast<std::size_t>(unknowns));
  const double tolerance = kSingular * largest;
  int rank = 0;
  int info = 0;
  dpstrf_("L", &unknowns, gram.elements.data(), &gram.order, pivots.data(), &rank, &tolerance,
          work.data(), &info);
  if (rank < unknowns) fail_singular(data, std::span(pivots).subspan(rank));

  std::vector<double> permuted(unknowns);
  for (int i = 0; i < unknowns; ++i) permuted[i] = right[pivots[i] - 1];
  for (const CBLAS_TRANSPOSE transpose : {CblasNoTrans, CblasTrans})
    cblas_dtrsv(CblasColMajor, CblasLower, transpose, CblasNonUnit, unknowns, gram.elements.data(),
                gram.order, permuted.data(), 1);
  std::vector<double> solution(unknowns);
  for (int i = 0; i < unknowns; ++i) solution[pivots[i] - 1] = permuted[i];
  return solution;
}

}  // namespace

std::vector<double> least_squares(Communicator& communicator, const Dataset& data,
                                  std::span<const std::size_t> samples) {
  const Symmetric gram = gram_matrix(communicator, data, samples);
  std::vector<double> solution(data.width() + 1);
  agree(communicator, [&] {  // machines of different kinds might round differently
    if (communicator.rank() == 0) solution = solve(gram, data);
  });
  communicator.broadcast(std::span(solution), 0);
  return solution;
}

double relative_distance(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size())
    throw Error(ErrorCode::usage,
                fmt::format("vectors of {} and {} elements have no distance", a.size(), b.size()));
  double difference = 0;
  double norm = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference = std::hypot(difference, a[i] - b[i]);
    norm = std::hypot(norm, b[i]);
  }
  return difference == 0 ? 0.0 : difference / norm;
}

}  // namespace rondo::train
