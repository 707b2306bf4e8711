// Layers, losses and whole trainings beside PyTorch's: what golden/make_layer_golden.py wrote.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include <rondo/train/train.hpp>

#include "train/golden.hpp"
#include "train/gradient_check.hpp"

namespace rondo::train {
namespace {

using nlohmann::json;

/// Of the largest element: that of float64 results, and of float32 results beside float64 ones.
template <class T>
inline constexpr double kGradientTolerance = sizeof(T) == 8 ? 1e-12 : 1e-5;

template <class T>
void expect_like(std::span<const T> got, const json& expected, const std::string& what) {
  const std::vector<double> numbers = expected;
  ASSERT_EQ(got.size(), numbers.size()) << what;
  double largest = 0;
  for (const double number : numbers) largest = std::max(largest, std::abs(number));
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], numbers[i], kGradientTolerance<T> * largest) << what << " " << i;
}

template <class T>
using LayerPointer = std::unique_ptr<Layer<T>>;

ImageShape image_of(const json& options) {
  const json& image = options["image"];
  return {image[0], image[1], image[2]};
}

Window window_of(const json& options) {
  const json& window = options["window"];
  return {window[0], window[1], window[2]};
}

template <class T>
LayerPointer<T> make_layer(const std::string& kind, const json& o) {
  const std::map<std::string, std::function<LayerPointer<T>()>> kinds{
      {"linear", [&] { return std::make_unique<Linear<T>>(kind, o["inputs"], o["outputs"]); }},
      {"conv2d",
       [&] { return std::make_unique<Conv2d<T>>(kind, image_of(o), o["channels"], window_of(o)); }},
      {"max_pool2d", [&] { return std::make_unique<MaxPool2d<T>>(image_of(o), window_of(o)); }},
      {"relu", [&] { return std::make_unique<Relu<T>>(o["features"]); }},
      {"tanh", [&] { return std::make_unique<Tanh<T>>(o["features"]); }},
      {"sigmoid", [&] { return std::make_unique<Sigmoid<T>>(o["features"]); }},
      {"gelu", [&] { return std::make_unique<Gelu<T>>(o["features"]); }},
      {"flatten", [&] { return std::make_unique<Flatten<T>>(o["features"]); }},
      {"embedding",
       [&] {
         return std::make_unique<Embedding<T>>(kind, o["positions"], o["count"], o["width"]);
       }},
      {"layer_norm", [&] { return std::make_unique<LayerNorm<T>>(kind, o["features"]); }},
      {"lstm",
       [&] { return std::make_unique<Lstm<T>>(kind, o["positions"], o["features"], o["hidden"]); }},
      {"attention",
       [&] {
         return std::make_unique<CausalSelfAttention<T>>(kind, o["positions"], o["width"],
                                                         o["heads"]);
       }},
      {"position_embedding",
       [&] { return std::make_unique<PositionEmbedding<T>>(kind, o["positions"], o["width"]); }},
      {"residual", [&] {
         return std::make_unique<Residual<T>>(Linear<T>(kind, o["features"], o["features"]));
       }}};
  return kinds.at(kind)();
}

template <class T>
void set_parameters(Layer<T>& layer, const json& values) {
  const auto parameters = layer.parameters();
  ASSERT_EQ(parameters.size(), values.size());
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const auto numbers = values[p].get<std::vector<T>>();
    ASSERT_EQ(parameters[p]->size(), numbers.size()) << parameters[p]->name();
    std::ranges::copy(numbers, parameters[p]->value().data());
  }
}

template <class T>
class Golden : public ::testing::Test {};
using ElementTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Golden, ElementTypes);

TYPED_TEST(Golden, LayersHavePyTorchsOutputsAndGradients) {
  using T = TypeParam;
  const json file = testing::golden("layers.json");
  EXPECT_EQ(file["layers"].size(), 16U);
  for (const json& one : file["layers"]) {
    SCOPED_TRACE(one["layer"].get<std::string>() + one["options"].dump());
    const LayerPointer<T> layer = make_layer<T>(one["layer"], one["options"]);
    set_parameters(*layer, one["parameters"]);
    const auto x = one["x"].get<std::vector<T>>();
    const auto y_gradient = one["y_gradient"].get<std::vector<T>>();
    expect_like<T>(layer->forward(x, one["rows"]), one["y"], "y");
    const bool differentiable = !one["x_gradient"].empty();
    const auto x_gradient =
        layer->backward(y_gradient, testing::kIgnore,
                        differentiable ? InputGradient::compute : InputGradient::skip);
    expect_like<T>(x_gradient, one["x_gradient"], "x gradient");
    for (std::size_t p = 0; p < layer->parameters().size(); ++p)
      expect_like<T>(layer->parameters()[p]->gradient(), one["parameter_gradients"][p],
                     layer->parameters()[p]->name());
  }
}

TYPED_TEST(Golden, CrossEntropyIsPyTorchs) {
  using T = TypeParam;
  const json file = testing::golden("layers.json")["cross_entropy"];
  EXPECT_EQ(file.size(), 2U);  // the second with a row that has no target
  for (const json& one : file) {
    const auto logits = one["logits"].get<std::vector<T>>();
    std::vector<T> gradient(logits.size());
    const double loss =
        cross_entropy<T>(logits, one["targets"].get<std::vector<std::uint32_t>>(), gradient);
    EXPECT_NEAR(loss, one["loss"], kGradientTolerance<T> * loss);
    expect_like<T>(gradient, one["gradient"], "gradient");
  }
}

/// A model and how it is trained; what TRAININGS in make_layer_golden.py has.
template <class T>
struct Trained {
  std::unique_ptr<Sequential<T>> model;
  std::function<std::unique_ptr<Optimizer<T>>(std::vector<Parameter<T>*>)> optimizer;
  Schedule schedule;
};

template <class T>
Trained<T> make_mlp() {
  return {std::make_unique<Sequential<T>>(Linear<T>("a", 36, 8), Tanh<T>(8), Linear<T>("b", 8, 6),
                                          Sigmoid<T>(6), Linear<T>("c", 6, 4)),
          [](auto parameters) { return rmsprop<T>(std::move(parameters)); },
          {.base = 0.01}};
}

template <class T>
Trained<T> make_cnn() {
  return {std::make_unique<Sequential<T>>(Conv2d<T>("a", {1, 6, 6}, 3, {.size = 3, .padding = 1}),
                                          Relu<T>(108),
                                          MaxPool2d<T>({3, 6, 6}, {.size = 2, .stride = 2}),
                                          Conv2d<T>("b", {3, 3, 3}, 4, {.size = 3}), Relu<T>(4),
                                          Flatten<T>(4), Linear<T>("c", 4, 4)),
          [](auto parameters) {
            return sgd<T>(std::move(parameters), {.momentum = 0.9, .nesterov = true});
          },
          {.base = 0.05,
           .shape = Schedule::Shape::step,
           .warmup_steps = 10,
           .decay_every = 30,
           .decay = 0.5}};
}

template <class T>
Trained<T> make_lstm() {
  return {std::make_unique<Sequential<T>>(Embedding<T>("words", 6, 7, 5), Lstm<T>("lstm", 6, 5, 4),
                                          Flatten<T>(24), Linear<T>("head", 24, 4)),
          [](auto parameters) { return adam<T>(std::move(parameters)); },
          {.base = 0.02, .shape = Schedule::Shape::step, .decay_every = 20, .decay = 0.7}};
}

template <class T>
Trained<T> make_transformer() {
  return {std::make_unique<Sequential<T>>(
              Embedding<T>("words", 6, 7, 8),
              Residual<T>(Sequential<T>(EachPosition<T>(6, LayerNorm<T>("norm1", 8)),
                                        CausalSelfAttention<T>("attention", 6, 8, 2))),
              Residual<T>(
                  EachPosition<T>(6, Sequential<T>(LayerNorm<T>("norm2", 8), Linear<T>("up", 8, 16),
                                                   Gelu<T>(16), Linear<T>("down", 16, 8)))),
              Linear<T>("head", 48, 4)),
          [](auto parameters) { return adamw<T>(std::move(parameters)); },
          {.base = 0.01, .shape = Schedule::Shape::cosine, .warmup_steps = 10, .total_steps = 100}};
}

TYPED_TEST(Golden, TrainingsFollowPyTorchFor100Steps) {
  using T = TypeParam;
  const double tolerance = sizeof(T) == 8 ? 1e-10 : 1e-4;
  const std::map<std::string, std::function<Trained<T>()>> makers{
      {"mlp", make_mlp<T>},
      {"cnn", make_cnn<T>},
      {"lstm", make_lstm<T>},
      {"transformer", make_transformer<T>}};
  const json file = testing::golden("trainings.json");
  EXPECT_EQ(file.size(), makers.size());
  for (const json& one : file) {
    SCOPED_TRACE(one["model"].get<std::string>());
    const Trained<T> trained = makers.at(one["model"])();
    set_parameters<T>(*trained.model, one["start"]);
    const auto x = one["x"].get<std::vector<T>>();
    const auto targets = one["targets"].get<std::vector<std::uint32_t>>();
    const auto samples = static_cast<double>(targets.size());
    const auto optimizer = trained.optimizer(trained.model->parameters());
    std::vector<T> gradient(targets.size() * trained.model->outputs());
    for (std::size_t step = 0; step < 100; ++step) {
      const auto logits = trained.model->forward(x, targets.size(), {.training = true});
      const double loss = cross_entropy<T>(logits, targets, gradient) / samples;
      const double expected = one["losses"][step];
      ASSERT_NEAR(loss, expected, tolerance * std::max(1.0, expected)) << "step " << step;
      for (T& element : gradient) element /= static_cast<T>(samples);
      trained.model->backward(gradient, testing::kIgnore);
      optimizer->step(trained.schedule.at(step));
    }
    const auto parameters = trained.model->parameters();
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      // A bias of the keys has no effect on softmax: its gradient is rounding, which Adam blows up.
      if (sizeof(T) == 4 && parameters[p]->name() == "attention.in_bias") continue;
      testing::expect_near<T>(parameters[p]->value().span(), one["end"][p], parameters[p]->name(),
                              tolerance);
    }
  }
}

}  // namespace
}  // namespace rondo::train
