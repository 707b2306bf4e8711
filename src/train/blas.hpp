#pragma once

#include <cblas.h>

#include <cstddef>

#include "core/narrow.hpp"

namespace rondo::train::blas {

/// A row-major matrix product C = op(A)·op(B) + beta·C, where C is `rows` × `columns`, and `inner`
/// is the extent summed over. None may be 0.
struct Product {
  bool transpose_a = false;
  bool transpose_b = false;
  std::size_t rows;
  std::size_t columns;
  std::size_t inner;
};

namespace detail {

inline void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, const float* a,
                 int lda, const float* b, int ldb, float beta, float* c, int ldc) {
  cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, 1.0F, a, lda, b, ldb, beta, c, ldc);
}
inline void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, const double* a,
                 int lda, const double* b, int ldb, double beta, double* c, int ldc) {
  cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, 1.0, a, lda, b, ldb, beta, c, ldc);
}
inline void gemv(CBLAS_TRANSPOSE t, int m, int n, const float* a, const float* x, float beta,
                 float* y) {
  cblas_sgemv(CblasRowMajor, t, m, n, 1.0F, a, n, x, 1, beta, y, 1);
}
inline void gemv(CBLAS_TRANSPOSE t, int m, int n, const double* a, const double* x, double beta,
                 double* y) {
  cblas_dgemv(CblasRowMajor, t, m, n, 1.0, a, n, x, 1, beta, y, 1);
}

constexpr CBLAS_TRANSPOSE flag(bool transpose) { return transpose ? CblasTrans : CblasNoTrans; }

}  // namespace detail

/// Throws Error(usage) when an extent does not fit BLAS's int. A vector as B or A, which has no
/// transpose to speak of, takes gemv: one pass over the matrix, where gemm would pack it first.
template <class T>
void multiply(const Product& product, const T* a, const T* b, T beta, T* c) {
  const int m = core::narrow<int>(product.rows);
  const int n = core::narrow<int>(product.columns);
  const int k = core::narrow<int>(product.inner);
  using detail::flag;
  if (n == 1) {  // C = op(A)·b
    const auto [rows, columns] = product.transpose_a ? std::pair(k, m) : std::pair(m, k);
    detail::gemv(flag(product.transpose_a), rows, columns, a, b, beta, c);
  } else if (m == 1) {  // Cᵀ = op(B)ᵀ·a
    const auto [rows, columns] = product.transpose_b ? std::pair(n, k) : std::pair(k, n);
    detail::gemv(flag(!product.transpose_b), rows, columns, b, a, beta, c);
  } else {
    detail::gemm(flag(product.transpose_a), flag(product.transpose_b), m, n, k, a,
                 product.transpose_a ? m : k, b, product.transpose_b ? k : n, beta, c, n);
  }
}

}  // namespace rondo::train::blas
