// A language model of characters on all ranks of mpirun, from a text to one that it writes.
#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <rondo/rondo.hpp>
#include <rondo/train/train.hpp>

#include "program.hpp"
#include "shipped_data.hpp"
#include "train_text_options.hpp"
#include "training.hpp"

namespace train = rondo::train;

namespace {

/// The text as every rank has it; the end of it is for the test.
struct Data {
  train::TextData text;
  train::Split split;
};

Data read_data(rondo::Communicator& world, const TextOptions& options) {
  Data data;
  train::agree(world, [&] {
    data.text = train::read_text_data(
        options.file.empty() ? find_shipped_data("genesis.txt.gz") : options.file, options.context);
  });
  train::check_same_data(world, data.text);
  const std::size_t samples = data.text.samples();
  const double tests = std::round(options.test_fraction * static_cast<double>(samples));
  data.split.train.resize(std::max<std::size_t>(samples - static_cast<std::size_t>(tests), 1));
  data.split.test.resize(samples - data.split.train.size());
  std::iota(data.split.train.begin(), data.split.train.end(), std::size_t{0});
  std::iota(data.split.test.begin(), data.split.test.end(), data.split.train.size());
  return data;
}

template <class T>
using Layers = std::vector<std::unique_ptr<train::Layer<T>>>;

template <class T>
void add_lstms(const TextOptions& options, Layers<T>& layers) {
  for (std::size_t i = 1; i <= options.layers; ++i)
    layers.push_back(std::make_unique<train::Lstm<T>>(fmt::format("lstm{}", i), options.context,
                                                      options.width, options.width));
}

/// Blocks of attention and two layers at each position, each normalised first (Radford et al.,
/// 2019).
template <class T>
void add_transformer(const TextOptions& options, Layers<T>& layers) {
  using train::EachPosition, train::Residual, train::Sequential, train::Linear, train::LayerNorm;
  const std::size_t context = options.context;
  const std::size_t width = options.width;
  layers.push_back(std::make_unique<train::PositionEmbedding<T>>("positions", context, width));
  for (std::size_t i = 1; i <= options.layers; ++i) {
    const auto name = [&](const char* part) { return fmt::format("block{}.{}", i, part); };
    layers.push_back(std::make_unique<Residual<T>>(Sequential<T>(
        EachPosition<T>(context, LayerNorm<T>(name("norm1"), width)),
        train::CausalSelfAttention<T>(name("attention"), context, width, options.heads))));
    layers.push_back(std::make_unique<Residual<T>>(EachPosition<T>(
        context,
        Sequential<T>(LayerNorm<T>(name("norm2"), width), Linear<T>(name("up"), width, 4 * width),
                      train::Gelu<T>(4 * width), Linear<T>(name("down"), 4 * width, width)))));
  }
  layers.push_back(std::make_unique<EachPosition<T>>(context, LayerNorm<T>("norm", width)));
}

template <class T>
train::Sequential<T> make_model(const TextOptions& options, std::size_t characters) {
  Layers<T> layers;
  layers.push_back(std::make_unique<train::Embedding<T>>("characters", options.context, characters,
                                                         options.width));
  if (options.model == "lstm")
    add_lstms(options, layers);
  else
    add_transformer(options, layers);
  layers.push_back(std::make_unique<train::EachPosition<T>>(
      options.context, train::Linear<T>("head", options.width, characters)));
  return train::Sequential<T>(std::move(layers));
}

/// Draws a number with the probabilities softmax(logits).
template <class T>
std::size_t draw(std::span<const T> logits, std::mt19937_64& random) {
  std::vector<double> sums(logits.begin(), logits.end());
  const double largest = *std::ranges::max_element(sums);
  double sum = 0;
  for (double& element : sums) element = sum += std::exp(element - largest);
  const double drawn = sum * static_cast<double>(random() >> 11) * 0x1p-53;
  const std::size_t below = std::ranges::upper_bound(sums, drawn) - sums.begin();
  return std::min(below, sums.size() - 1);
}

/// A text by the model, which begins as the one that it learned from.
template <class T>
std::string write_text(train::Layer<T>& model, const train::TextData& data, std::size_t length,
                       std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> context(data.context);
  context[0] = data.characters[0];
  std::size_t last = 0;  // what lies behind it has no effect
  std::string text(1, data.alphabet[data.characters[0]]);
  while (text.size() < length) {
    const std::size_t classes = data.classes();
    const std::span<const T> logits = model.forward(context, 1).subspan(last * classes, classes);
    const std::size_t next = draw(logits, random);
    text.push_back(data.alphabet[next]);
    if (last + 1 == data.context)
      std::rotate(context.begin(), context.begin() + 1, context.end());
    else
      ++last;
    context[last] = static_cast<T>(next);
  }
  return text;
}

template <class T>
void report(rondo::Communicator& world, const TextOptions& options, const Data& data,
            train::Layer<T>& model) {
  if (!data.split.test.empty()) {
    const auto score = train::evaluate<T>(world, model, data.text, data.split.test);
    say(world, fmt::format("test {:.4f} bits per character, perplexity {:.3f}, accuracy {:.4f} ({} "
                           "characters)",
                           score.cross_entropy / std::numbers::ln2, std::exp(score.cross_entropy),
                           score.accuracy, score.samples));
  }
  if (options.sample > 0 && world.rank() == 0)
    fmt::print("{}\n", write_text(model, data.text, options.sample, options.seed));
}

template <class T>
void train_model(rondo::Communicator& world, const TextOptions& options, const Data& data) {
  train::Sequential<T> model = make_model<T>(options, data.text.classes());
  train::Loader<T> loader(data.text, data.split.train,
                          {options.batch_size, options.seed, world.rank(), world.size()});
  const auto loss = [](std::span<const T> outputs, const train::PlacedBatch<T>& batch,
                       std::span<T> gradient, train::Compute& place) {
    return train::cross_entropy<T>(outputs, batch.labels, gradient, place);
  };
  Training<T> training(world, options, model, loader, loss, data.text.fingerprint(),
                       {{"model", options.model}, {"heads", fmt::to_string(options.heads)}},
                       "characters");
  training.run();
  report(world, options, data, model);
}

void run(rondo::Communicator& world, const TextOptions& options) {
  const Data data = read_data(world, options);
  with_element_type(options, [&]<class T>(T) { train_model<T>(world, options, data); });
}

}  // namespace

int main(int argc, char** argv) {
  return rondo::run_main(argc, argv, [](int count, char** values) {
    return run_training_program("train_text", count, values, parse_text_options, run);
  });
}
