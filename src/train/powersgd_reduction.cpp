#include <algorithm>
#include <string>
#include <utility>

#include "core/digest.hpp"
#include "core/reduce.hpp"
#include "train/all_finite.hpp"
#include "train/blas.hpp"
#include "train/bucket_reductions.hpp"
#include "train/orthonormalise.hpp"
#include "train/random.hpp"

namespace rondo::train {

namespace {

/// A matrix M of n × m = scale · gradient + residual, as ranks send it. Thin matrices are kept
/// transposed, so that their columns lie in rows.
template <class T>
struct Matrix {
  std::string name;
  std::vector<std::size_t> shape;
  std::size_t n;
  std::size_t m;
  std::size_t r;
  T* gradient;
  std::size_t first = 0;   // where P, r × n, lies in the first stage's memory
  std::size_t second = 0;  // where Q, r × m, lies in the second's
  std::vector<T> residual{};
  std::vector<T> left_over{};  // M, and then what is left of it: the next residual
  std::vector<T> q{};          // of the last step that was taken

  std::uint64_t seed() const {
    core::Digest digest;
    digest.add(name);
    return digest.value();
  }
};

/// A gradient that travels as it is.
template <class T>
struct Vector {
  std::span<T> gradient;
  std::size_t first;
};

/// PowerSGD (Vogels, Karimireddy & Jaggi, 2019). With a sum over all ranks in each stage:
///
///   stage 0:  Q ← orthonormal(Q of the last step);  P ← sum of M·Q
///   stage 1:  P ← orthonormal(P);  q ← Mᵀ·P;  residual ← M - P·qᵀ;  Q ← sum of q
///   finish:   gradient ← P·Qᵀ
///
/// What all ranks must have alike is computed in a fixed order; only what is then added up comes
/// from BLAS. Residuals are of each rank's share: they add up to what is missing from the sum.
///
///   bytes sent: those of two all-reduces, of r·n + r·m elements a matrix in all, and of the rest
template <class T>
class PowerSgdReduction final : public BucketReduction {
 public:
  PowerSgdReduction(std::size_t rank, std::span<const BucketPart> parts) {
    std::size_t first = 0;
    std::size_t second = 0;
    for (const BucketPart& part : parts) {
      T* const gradient = static_cast<T*>(part.gradient.data);
      const std::size_t r = powersgd_rank(rank, part.shape);
      if (r == 0) {
        vectors_.push_back({{gradient, part.gradient.count}, first});
        first += part.gradient.count;
        continue;
      }
      const std::size_t n = part.shape[0];
      const std::size_t m = part.gradient.count / n;
      Matrix<T>& matrix = matrices_.emplace_back(
          Matrix<T>{part.name, part.shape, n, m, r, gradient, first, second});
      matrix.residual.resize(n * m);
      matrix.left_over.resize(n * m);
      matrix.q.resize(r * m);  // zeros, in whose place random ones come
      first += r * n;
      second += r * m;
    }
    first_.resize(first * sizeof(T));
    second_.resize(second * sizeof(T));
  }

  std::size_t stages() const override { return 2; }

  Exchange begin(std::size_t stage, double scale) override {
    return stage == 0 ? begin_first(scale) : begin_second();
  }

  void finish() override {
    for (const Matrix<T>& matrix : matrices_) {
      std::fill_n(matrix.gradient, matrix.n * matrix.m, T{0});
      add_product(matrix, T{1}, matrix.gradient);
    }
    for (const Vector<T>& vector : vectors_)
      std::copy_n(at(first_, vector.first), vector.gradient.size(), vector.gradient.data());
  }

  void keep() override {
    for (Matrix<T>& matrix : matrices_) {
      if (!all_finite({matrix.gradient, matrix.n * matrix.m, data_type_of<T>})) continue;
      std::swap(matrix.residual, matrix.left_over);
      std::copy_n(at(second_, matrix.second), matrix.q.size(), matrix.q.data());
    }
  }

  void add_residuals(std::vector<ArrayView>& views) override {
    for (Matrix<T>& matrix : matrices_)
      views.push_back({std::string(kResidualPrefix) + matrix.name, data_type_of<T>, matrix.shape,
                       matrix.residual.data()});
  }

  void add_state(std::vector<ArrayView>& views) override {
    for (Matrix<T>& matrix : matrices_)
      views.push_back({std::string(kWarmStartPrefix) + matrix.name,
                       data_type_of<T>,
                       {matrix.r, matrix.m},
                       matrix.q.data()});
  }

 private:
  static T* at(SharedVector& memory, std::size_t element) {
    return reinterpret_cast<T*>(memory.data()) + element;
  }
  static Exchange sum_of(SharedVector& memory) {
    const Buffer all(memory.data(), memory.size() / sizeof(T), data_type_of<T>);
    return {.input = all, .output = all};
  }

  Exchange begin_first(double scale) {
    for (Matrix<T>& matrix : matrices_) {
      const std::size_t count = matrix.n * matrix.m;
      T* const sum = matrix.left_over.data();
      core::load(data_type_of<T>, scale, matrix.gradient, sum, count);
      core::reduce(data_type_of<T>, ReduceOp::sum, matrix.residual.data(), sum, sum, count);
      orthonormal_q_ = matrix.q;
      orthonormalise<T>(orthonormal_q_, matrix.r, Replace::by_random, matrix.seed());
      blas::multiply<T>(
          {.transpose_b = true, .rows = matrix.r, .columns = matrix.n, .inner = matrix.m},
          orthonormal_q_.data(), sum, T{0}, at(first_, matrix.first));
    }
    for (const Vector<T>& vector : vectors_)
      core::load(data_type_of<T>, scale, vector.gradient.data(), at(first_, vector.first),
                 vector.gradient.size());
    return sum_of(first_);
  }

  Exchange begin_second() {
    for (Matrix<T>& matrix : matrices_) {
      T* const p = at(first_, matrix.first);
      orthonormalise<T>({p, matrix.r * matrix.n}, matrix.r, Replace::by_zeros);
      blas::multiply<T>({.rows = matrix.r, .columns = matrix.m, .inner = matrix.n}, p,
                        matrix.left_over.data(), T{0}, at(second_, matrix.second));
      add_product(matrix, T{-1}, matrix.left_over.data());
    }
    return sum_of(second_);
  }

  /// target += sign · P·Qᵀ.
  void add_product(const Matrix<T>& matrix, T sign, T* target) {
    const T* const p = at(first_, matrix.first);
    const T* const q = at(second_, matrix.second);
    for (std::size_t i = 0; i < matrix.n; ++i)
      for (std::size_t k = 0; k < matrix.r; ++k) {
        const T factor = sign * p[k * matrix.n + i];
        const T* const from = q + k * matrix.m;
        T* const to = target + i * matrix.m;
        for (std::size_t j = 0; j < matrix.m; ++j) to[j] += factor * from[j];
      }
  }

  std::vector<Matrix<T>> matrices_;
  std::vector<Vector<T>> vectors_;
  SharedVector first_;
  SharedVector second_;
  std::vector<T> orthonormal_q_;
};

}  // namespace

std::size_t powersgd_rank(std::size_t rank, std::span<const std::size_t> shape) {
  if (shape.size() < 2) return 0;
  const std::size_t n = shape[0];
  std::size_t m = 1;
  for (const std::size_t extent : shape.subspan(1)) m *= extent;
  const std::size_t r = std::min({rank, n, m});
  return r * (n + m) < n * m ? r : 0;
}

template <class T>
std::unique_ptr<BucketReduction> powersgd_reduction(std::size_t rank,
                                                    std::span<const BucketPart> parts) {
  return std::make_unique<PowerSgdReduction<T>>(rank, parts);
}

template std::unique_ptr<BucketReduction> powersgd_reduction<float>(std::size_t,
                                                                    std::span<const BucketPart>);
template std::unique_ptr<BucketReduction> powersgd_reduction<double>(std::size_t,
                                                                     std::span<const BucketPart>);

}  // namespace rondo::train
