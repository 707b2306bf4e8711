#include "cuda/driver.hpp"

#include <gtest/gtest.h>

#include "support/expect_error.hpp"

namespace rondo::cuda {
namespace {

TEST(CudaDriver, SaysWhatIsMissingWithoutOne) {
  testing::expect_error(ErrorCode::cuda, {"no CUDA driver", "libcuda-of-nobody.so"},
                        [] { const Driver driver("libcuda-of-nobody.so"); });
}

TEST(CudaDriver, SaysThatALibraryIsTooOldWhichLacksAFunction) {
  testing::expect_error(ErrorCode::cuda, {"libm.so.6 is too old", "cuInit"},
                        [] { const Driver driver("libm.so.6"); });
}

// The toolkit has a library with all of the driver's functions, though they only fail.
TEST(CudaDriver, FindsEveryFunctionByItsName) {
  EXPECT_NO_THROW(const Driver stub(RONDO_CUDA_STUB));
}

TEST(CudaDriver, NamesTheActionThatFailed) {
  const Driver stub(RONDO_CUDA_STUB);
  stub.check(CUDA_SUCCESS, "anything");
  testing::expect_error(ErrorCode::cuda, {"cuMemAlloc of 8 bytes failed: "},
                        [&] { stub.check(CUDA_ERROR_OUT_OF_MEMORY, "cuMemAlloc of 8 bytes"); });
}

}  // namespace
}  // namespace rondo::cuda
