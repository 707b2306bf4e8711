#include <rondo/train/tensor.hpp>

#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include <rondo/error.hpp>
#include <rondo/train/parameter.hpp>

namespace rondo::train {
namespace {

TEST(Tensor, HoldsAlignedZerosInItsShape) {
  const Tensor<float> tensor({3, 5});
  EXPECT_EQ(tensor.size(), 15U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.data()) % 64, 0U);
  for (const float element : tensor.span()) EXPECT_EQ(element, 0.0F);
}

TEST(Tensor, IsEmptyByDefaultAndScalarWithEmptyShape) {
  EXPECT_EQ(Tensor<double>().size(), 0U);
  EXPECT_EQ(Tensor<double>(std::vector<std::size_t>{}).size(), 1U);
  EXPECT_EQ(Tensor<double>({4, 0, 2}).size(), 0U);
}

TEST(Tensor, CopiesAreDeepAndMovesKeepTheMemory) {
  Tensor<double> tensor({4});
  tensor[2] = 7.0;
  const Tensor<double> copy = tensor;
  tensor[2] = 1.0;
  EXPECT_EQ(copy[2], 7.0);
  const double* const memory = tensor.data();
  const Tensor<double> moved = std::move(tensor);
  EXPECT_EQ(moved.data(), memory);
}

TEST(Tensor, RefusesAShapeWhoseProductOverflows) {
  const std::size_t half = std::numeric_limits<std::size_t>::max() / 2;
  EXPECT_THROW(Tensor<float>({half, 3}), Error);
  EXPECT_EQ(Tensor<float>({0, half, 3}).size(), 0U);
}

TEST(Tensor, ShowsItselfToCheckpoints) {
  Tensor<double> tensor({2, 3});
  const ArrayView view = tensor.view("name");
  EXPECT_EQ(view.name, "name");
  EXPECT_EQ(view.type, DataType::float64);
  EXPECT_EQ(view.shape, (std::vector<std::size_t>{2, 3}));
  EXPECT_EQ(view.data, tensor.data());
  EXPECT_EQ(view.bytes(), 48U);
}

TEST(Parameter, KeepsItsGradientWhenMoved) {
  Parameter<float> parameter("w", {3});
  const std::span<float> gradient = parameter.gradient();
  const Parameter<float> moved = std::move(parameter);
  EXPECT_EQ(moved.gradient().data(), gradient.data());
}

TEST(Parameter, StoresItsGradientWhereTold) {
  Parameter<float> parameter("w", {3});
  std::vector<float> memory(3);
  parameter.store_gradient_in(memory);
  EXPECT_EQ(parameter.gradient().data(), memory.data());
  memory.resize(2);
  EXPECT_THROW(parameter.store_gradient_in(memory), Error);
}

}  // namespace
}  // namespace rondo::train
