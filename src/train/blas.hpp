#pragma once

#include <cblas.h>

#include <cstddef>

#include "core/narrow.hpp"
#include "core/product.hpp"

namespace rondo::train::blas {

using core::Batch;
using core::Product;

namespace detail {

inline void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, const float* a,
                 int lda, const float* b, int ldb, float beta, float* c, int ldc) {
  cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, 1.0F, a, lda, b, ldb, beta, c, ldc);
}
inline void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, const double* a,
                 int lda, const double* b, int ldb, double beta, double* c, int ldc) {
  cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, 1.0, a, lda, b, ldb, beta, c, ldc);
}
inline void gemv(CBLAS_TRANSPOSE t, int m, int n, const float* a, int lda, const float* x, int incx,
                 float beta, float* y, int incy) {
  cblas_sgemv(CblasRowMajor, t, m, n, 1.0F, a, lda, x, incx, beta, y, incy);
}
inline void gemv(CBLAS_TRANSPOSE t, int m, int n, const double* a, int lda, const double* x,
                 int incx, double beta, double* y, int incy) {
  cblas_dgemv(CblasRowMajor, t, m, n, 1.0, a, lda, x, incx, beta, y, incy);
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
  const bool ta = product.transpose_a;
  const bool tb = product.transpose_b;
  const auto stride = [](std::size_t given, int dense) {
    return given == 0 ? dense : core::narrow<int>(given);
  };
  const int lda = stride(product.stride_a, ta ? m : k);
  const int ldb = stride(product.stride_b, tb ? k : n);
  const int ldc = stride(product.stride_c, n);
  using detail::flag;
  if (n == 1)  // C = op(A)·b
    detail::gemv(flag(ta), ta ? k : m, ta ? m : k, a, lda, b, tb ? 1 : ldb, beta, c, ldc);
  else if (m == 1)  // Cᵀ = op(B)ᵀ·a
    detail::gemv(flag(!tb), tb ? n : k, tb ? k : n, b, ldb, a, ta ? lda : 1, beta, c, 1);
  else
    detail::gemm(flag(ta), flag(tb), m, n, k, a, lda, b, ldb, beta, c, ldc);
}

/// One after the other.
template <class T>
void multiply(const Product& product, const Batch& batch, const T* a, const T* b, T beta, T* c) {
  for (std::size_t i = 0; i < batch.count; ++i)
    multiply(product, a + i * batch.step_a, b + i * batch.step_b,
             i > 0 && batch.step_c == 0 ? T{1} : beta, c + i * batch.step_c);
}

}  // namespace rondo::train::blas
