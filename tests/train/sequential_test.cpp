#include <rondo/train/sequential.hpp>

#include <rondo/train/linear.hpp>
#include <rondo/train/residual.hpp>
#include <rondo/train/tanh.hpp>

#include "support/expect_error.hpp"
#include "train/gradient_check.hpp"

namespace rondo::train {
namespace {

using rondo::testing::expect_error;
using testing::check_gradients;

Sequential<double> two_layers() {
  return Sequential<double>(Linear<double>("a", 3, 4), Tanh<double>(4), Linear<double>("b", 4, 3));
}

TEST(Sequential, HasTheGradientsOfFiniteDifferences) {
  Sequential<double> model = two_layers();
  model.initialise(1);
  check_gradients(model);
}

TEST(Sequential, HasItsLayersParametersInOrder) {
  Sequential<double> model = two_layers();
  std::vector<std::string> names;
  for (const Parameter<double>* parameter : model.parameters()) names.push_back(parameter->name());
  EXPECT_EQ(names, (std::vector<std::string>{"a.weight", "a.bias", "b.weight", "b.bias"}));
  EXPECT_EQ(model.inputs(), 3U);
  EXPECT_EQ(model.outputs(), 3U);
}

TEST(Sequential, DrawsEachLayersNumbersFromASeedOfItsOwn) {
  Sequential<double> model(Linear<double>("a", 2, 2), Linear<double>("b", 2, 2));
  model.initialise(1);
  EXPECT_NE(model.parameters()[0]->value()[0], model.parameters()[2]->value()[0]);
}

TEST(Sequential, RefusesLayersThatDoNotMeet) {
  expect_error(ErrorCode::usage, {"'a'", "4", "'b'", "5"},
               [] { Sequential<float>(Linear<float>("a", 3, 4), Linear<float>("b", 5, 3)); });
  expect_error(ErrorCode::usage, {"no layers"},
               [] { Sequential<float>(std::vector<std::unique_ptr<Layer<float>>>()); });
}

TEST(Sequential, RefusesTwoLayersOfOneNameHoweverDeep) {
  expect_error(ErrorCode::usage, {"'a.bias'"}, [] {
    Sequential<float>(
        Linear<float>("a", 3, 3),
        Residual<float>(Sequential<float>(Linear<float>("b", 3, 3), Linear<float>("a", 3, 3))));
  });
}

TEST(Residual, HasTheGradientsOfFiniteDifferences) {
  Residual<double> block(two_layers());
  block.initialise(2);
  check_gradients(block);
  Sequential<double> nested(Linear<double>("c", 2, 3), Residual<double>(two_layers()));
  nested.initialise(3);
  check_gradients(nested);
}

TEST(Residual, AddsItsInput) {
  Residual<float> block(Linear<float>("zero", 2, 2));
  const std::vector<float> x{1, 2, 3, 4};
  EXPECT_EQ(block.forward(x, 2)[3], 4);
}

TEST(Residual, RefusesALayerThatChangesTheWidth) {
  expect_error(ErrorCode::usage, {"'a'", "3", "4"},
               [] { Residual<float>(Linear<float>("a", 3, 4)); });
}

}  // namespace
}  // namespace rondo::train
