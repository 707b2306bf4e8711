#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/images.hpp"
#include "cuda/launch.hpp"
#include "cuda/split.hpp"
#include "train/each.hpp"
#include "train/functions/activations.hpp"
#include "train/functions/dropout.hpp"
#include "train/functions/fill.hpp"
#include "train/functions/images.hpp"
#include "train/functions/losses.hpp"
#include "train/functions/optimizers.hpp"
#include "train/functions/round.hpp"
#include "train/functions/rows.hpp"

/// What of the kernels can be tested without a GPU.
namespace rondo::cuda {
namespace {

struct Layout {
  ElementSizes sizes;
  std::size_t count;
  std::vector<const void*> sources;
  const void* out;
};

std::uintptr_t number(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

void expect_good_split(const Layout& it) {
  const Split split = cuda::split(it.sizes, it.sources, it.out, it.count);
  const std::size_t lanes = kVectorBytes / std::min(it.sizes.in, it.sizes.out);
  const std::size_t end = split.head + split.steps * lanes;
  ASSERT_LE(end, it.count);
  if (split.steps == 0) return;
  ASSERT_EQ((number(it.out) + split.head * it.sizes.out) % kVectorBytes, 0U);
  for (const void* source : it.sources) {
    const std::uintptr_t first = number(source) + split.head * it.sizes.in;
    if (!split.shifted) {
      ASSERT_EQ(first % kVectorBytes, 0U);
      continue;
    }
    const std::uintptr_t aligned = first / kVectorBytes * kVectorBytes;
    ASSERT_GE(aligned, number(source)) << "reads before the source";
    ASSERT_LE(aligned + (end - split.head) * it.sizes.in + kVectorBytes,
              number(source) + it.count * it.sizes.in)
        << "reads behind the source";
  }
}

const void* address(std::size_t offset) { return reinterpret_cast<const void*>(4096 + offset); }

TEST(CudaSplit, AlignsEveryVectorAndStaysInsideTheArrays) {
  std::mt19937 random(1);
  for (const ElementSizes sizes : {ElementSizes{1, 1}, {2, 2}, {4, 4}, {8, 8}, {2, 4}, {4, 2}})
    for (int i = 0; i < 3000; ++i) {
      Layout it{sizes, random() % 100, {}, address(random() % 32)};
      for (unsigned s = 0; s < 1 + random() % 3; ++s)
        it.sources.push_back(address(1000 + random() % 32));
      expect_good_split(it);
    }
}

TEST(CudaSplit, LeavesFewElementsToSingleThreads) {
  for (std::size_t offset = 0; offset < 16; ++offset) {
    const std::vector<const void*> sources{address(0), address(offset)};
    const Split split = cuda::split({4, 4}, sources, address(4), 1000);
    EXPECT_GE(split.steps * 4 + 16, 1000U) << offset;
    EXPECT_EQ(split.shifted, true) << offset;
  }
  const std::vector<const void*> alike{address(4), address(20)};
  const Split split = cuda::split({4, 4}, alike, address(36), 1000);
  EXPECT_FALSE(split.shifted);
  EXPECT_EQ(split.head, 3U);
  EXPECT_EQ(split.steps, 249U);
}

/// Every string in the compiled files, a line each: symbol tables are not compressed.
std::string kernel_names() {
  std::string names = "\n";
  for (const Image& image : images())
    std::replace_copy(image.begin, image.end, std::back_inserter(names), '\0', '\n');
  return names;
}

// Names are all that the compiled files and the launches have in common.
TEST(CudaKernels, ThereIsOneForEveryTypeAndOp) {
  const std::string names = kernel_names();
  for (int t = 0; t < kDataTypes; ++t)
    for (int o = 0; o < kReduceOps; ++o)
      for (const bool partial : {false, true}) {
        const core::Fold fold{.type = DataType(t), .op = ReduceOp(o), .partial = partial};
        EXPECT_NE(names.find('\n' + reduce_kernel(fold) + '\n'), std::string::npos)
            << reduce_kernel(fold);
      }
  EXPECT_EQ(names.find("\nrondo_reduce_float32_int8_sum\n"), std::string::npos) << "there is none";
}

TEST(CudaKernels, ThereIsOneForEveryConversion) {
  const std::string names = kernel_names();
  for (int t = 0; t < kDataTypes; ++t) {
    const auto type = DataType(t);
    const DataType wide = accumulator_of(type);
    for (const core::Conversion& conversion :
         {core::Conversion{type, wide}, {wide, type}, {type, type}})
      EXPECT_NE(names.find('\n' + convert_kernel(conversion) + '\n'), std::string::npos)
          << convert_kernel(conversion);
  }
}

template <class... Functions>
std::vector<std::string> kernels_of() {
  return {train::detail::kernel_of<Functions>()...};
}

template <class T, class... Activations>
std::vector<std::string> kernels_of_activations() {
  return kernels_of<train::ActivationValue<T, Activations>...,
                    train::ActivationGradient<T, Activations>...>();
}

template <class T>
void expect_training_kernels(const std::string& names) {
  using namespace train;
  std::vector<std::string> all =
      kernels_of<Fill<T>, Copy<T>, RoundToBfloat16<T>, SgdUpdate<T>, MomentumUpdate<T>,
                 AdamUpdate<T>, RmspropUpdate<T>, FillRow<T>, SumColumns<T>, SquaredError<T>,
                 CrossEntropy<T>, Fill<std::uint8_t>, Fill<std::uint32_t>, Fill<std::uint64_t>,
                 Add<T>, Scale<T>, FillPlane<T>, SumPlane<T>, Unfold<T>, FoldPlane<T>, MaxPool<T>,
                 MaxPoolGradient<T>, DropoutMask<T>>();
  std::ranges::copy(
      kernels_of_activations<T, train::detail::ReluFunction, train::detail::TanhFunction,
                             train::detail::SigmoidFunction, train::detail::GeluFunction>(),
      std::back_inserter(all));
  for (const std::string& name : all)
    EXPECT_NE(names.find('\n' + name + '\n'), std::string::npos) << name;
}

TEST(CudaKernels, ThereIsOneForEveryFunctionOfTraining) {
  const std::string names = kernel_names();
  expect_training_kernels<float>(names);
  expect_training_kernels<double>(names);
}

}  // namespace
}  // namespace rondo::cuda
