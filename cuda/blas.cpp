#include "blas.hpp"

#include <dlfcn.h>

#include <string>

#include <fmt/core.h>

#include <rondo/error.hpp>

#include "core/narrow.hpp"

namespace rondo::cuda {

// cuBLAS's functions that are used, by the names that <cublas_v2.h> gives to their versions.
#define RONDO_CUBLAS_FUNCTIONS(FUNCTION) \
  FUNCTION(cublasCreate)                 \
  FUNCTION(cublasSetStream)              \
  FUNCTION(cublasGetStatusString)        \
  FUNCTION(cublasSgemm)                  \
  FUNCTION(cublasDgemm)                  \
  FUNCTION(cublasSgemmStridedBatched)    \
  FUNCTION(cublasDgemmStridedBatched)

struct Blas::Library {
#define RONDO_CUBLAS_MEMBER(name) \
  decltype(&::name) name = nullptr;  // NOLINT(bugprone-macro-parentheses)
  RONDO_CUBLAS_FUNCTIONS(RONDO_CUBLAS_MEMBER)
#undef RONDO_CUBLAS_MEMBER

  Library() {
    const std::string file = fmt::format("libcublas.so.{}", CUBLAS_VER_MAJOR);
    void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr)
      throw Error(
          ErrorCode::cuda,
          fmt::format("matrix products on a device need cuBLAS, which can't be loaded ({}); "
                      "install CUDA {}'s libraries, or name their folder in "
                      "LD_LIBRARY_PATH",
                      dlerror(), CUBLAS_VER_MAJOR));
    const auto find = [&](const char* function) {
      if (void* address = dlsym(handle, function)) return address;
      throw Error(ErrorCode::cuda, fmt::format("{} has no {}", file, function));
    };
#define RONDO_CUBLAS_TEXT(name) #name
#define RONDO_CUBLAS_FIND(name) \
  name = reinterpret_cast<decltype(name)>(find(RONDO_CUBLAS_TEXT(name)));
    RONDO_CUBLAS_FUNCTIONS(RONDO_CUBLAS_FIND)
#undef RONDO_CUBLAS_FIND
#undef RONDO_CUBLAS_TEXT
  }
};

/// Never unloaded.
const Blas::Library& Blas::library() {
  static const auto* const loaded = new Library;
  return *loaded;
}

void Blas::check(cublasStatus_t status, const char* action) const {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw Error(ErrorCode::cuda, fmt::format("{} on device {} failed: {}", action, device_,
                                             library().cublasGetStatusString(status)));
}

namespace {

/// What cuBLAS calls a product. Its matrices are column-major, and so the transposes of ours:
/// Cᵀ = op(B)ᵀ·op(A)ᵀ.
struct Columns {
  cublasOperation_t a;
  cublasOperation_t b;
  int rows;
  int columns;
  int inner;
  int stride_a;
  int stride_b;
  int stride_c;

  explicit Columns(const core::Product& product)
      : a(product.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N),
        b(product.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N),
        rows(core::narrow<int>(product.rows)),
        columns(core::narrow<int>(product.columns)),
        inner(core::narrow<int>(product.inner)),
        stride_a(stride(product.stride_a, product.transpose_a ? rows : inner)),
        stride_b(stride(product.stride_b, product.transpose_b ? inner : columns)),
        stride_c(stride(product.stride_c, columns)) {}

 private:
  static int stride(std::size_t given, int dense) {
    return given == 0 ? dense : core::narrow<int>(given);
  }
};

}  // namespace

void Blas::multiply(CUstream stream, const device::Multiplication& work) {
  const Library& blas = library();
  const std::lock_guard lock(mutex_);
  if (handle_ == nullptr) check(blas.cublasCreate(&handle_), "cublasCreate");
  check(blas.cublasSetStream(handle_, stream), "cublasSetStream");

  const Columns it(work.product);
  const core::Batch& batch = work.batch;
  const auto run = [&]<class T>(T, auto gemm, auto gemm_of_many) {
    const auto* const a = static_cast<const T*>(work.a);
    const auto* const b = static_cast<const T*>(work.b);
    auto* const c = static_cast<T*>(work.c);
    const T one{1};
    const T beta = static_cast<T>(work.beta);
    if (batch.count > 1 && batch.step_c != 0)
      return check(
          gemm_of_many(handle_, it.b, it.a, it.columns, it.rows, it.inner, &one, b, it.stride_b,
                       core::narrow<long long>(batch.step_b), a, it.stride_a,
                       core::narrow<long long>(batch.step_a), &beta, c, it.stride_c,
                       core::narrow<long long>(batch.step_c), core::narrow<int>(batch.count)),
          "cublasGemmStridedBatched");
    for (std::size_t i = 0; i < batch.count; ++i)
      check(gemm(handle_, it.b, it.a, it.columns, it.rows, it.inner, &one, b + i * batch.step_b,
                 it.stride_b, a + i * batch.step_a, it.stride_a, i == 0 ? &beta : &one, c,
                 it.stride_c),
            "cublasGemm");
  };
  if (work.type == DataType::float32)
    run(float{}, blas.cublasSgemm, blas.cublasSgemmStridedBatched);
  else
    run(double{}, blas.cublasDgemm, blas.cublasDgemmStridedBatched);
}

}  // namespace rondo::cuda
