// A small convolutional network on all ranks of mpirun, from images of digits to its accuracy.
#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <rondo/rondo.hpp>
#include <rondo/train/train.hpp>

#include "program.hpp"
#include "shipped_data.hpp"
#include "train_digits_options.hpp"
#include "training.hpp"

namespace train = rondo::train;

namespace {

/// The images as every rank has them; those for the test are the same ones or others.
struct Data {
  train::LabelledData images;
  train::LabelledData test_images;  // none: the split's test samples
  train::Split split;
};

void check_images(const train::LabelledData& data, const train::LabelledData& like,
                  const std::string& path) {
  if (data.shape.size() != 2 || data.shape != like.shape || data.shape[0] < 4 || data.shape[1] < 4)
    throw rondo::Error(
        rondo::ErrorCode::usage,
        fmt::format("'{}' has not images of one size, height × width, of 4 pixels at least", path));
}

Data read_files(const DigitsOptions& options) {
  Data data;
  const bool shipped = options.images.empty();
  const std::string images =
      shipped ? find_shipped_data("digits-images.idx3-ubyte.gz") : options.images;
  const std::string labels =
      shipped ? find_shipped_data("digits-labels.idx1-ubyte.gz") : options.labels;
  data.images = train::read_labelled_idx(images, labels);
  check_images(data.images, data.images, images);
  if (options.test_images.empty()) {
    data.split = train::split(data.images.samples(), options.test_fraction, options.seed);
    return data;
  }
  data.test_images = train::read_labelled_idx(options.test_images, options.test_labels);
  data.test_images.scale = data.images.scale;
  check_images(data.test_images, data.images, options.test_images);
  data.split = train::split(data.images.samples(), 0.0, options.seed);
  data.split.test.resize(data.test_images.samples());
  std::iota(data.split.test.begin(), data.split.test.end(), std::size_t{0});
  return data;
}

Data read_data(rondo::Communicator& world, const DigitsOptions& options) {
  Data data;
  train::agree(world, [&] { data = read_files(options); });
  train::check_same_data(world, data.images);
  train::check_same_data(world, data.test_images);
  return data;
}

/// Two convolutions, each halving height and width, and a hidden layer of 64.
template <class T>
train::Sequential<T> make_model(const train::LabelledData& data, std::size_t classes,
                                double dropout) {
  using train::Conv2d, train::MaxPool2d, train::Relu;
  const train::Window around{.size = 3, .stride = 1, .padding = 1};
  const train::Window halving{.size = 2, .stride = 2};
  Conv2d<T> conv1("conv1", {1, data.shape[0], data.shape[1]}, 16, around);
  MaxPool2d<T> pool1(conv1.output_shape(), halving);
  Conv2d<T> conv2("conv2", pool1.output_shape(), 32, around);
  MaxPool2d<T> pool2(conv2.output_shape(), halving);
  const std::size_t features = pool2.outputs();
  Relu<T> relu1(conv1.outputs());
  Relu<T> relu2(conv2.outputs());
  return train::Sequential<T>(std::move(conv1), std::move(relu1), std::move(pool1),
                              std::move(conv2), std::move(relu2), std::move(pool2),
                              train::Flatten<T>(features), train::Linear<T>("hidden", features, 64),
                              Relu<T>(64), train::Dropout<T>("dropout", 64, dropout),
                              train::Linear<T>("head", 64, classes));
}

template <class T>
void train_model(rondo::Communicator& world, const DigitsOptions& options, const Data& data) {
  const std::size_t classes = std::max(data.images.classes(), data.test_images.classes());
  train::Sequential<T> model = make_model<T>(data.images, classes, options.dropout);
  train::Loader<T> loader(data.images, data.split.train,
                          {options.batch_size, options.seed, world.rank(), world.size()});
  const auto loss = [](std::span<const T> outputs, const train::PlacedBatch<T>& batch,
                       std::span<T> gradient, train::Compute& place) {
    return train::cross_entropy<T>(outputs, batch.labels, gradient, place);
  };
  Training<T> training(world, options, model, loader, loss, data.images.fingerprint(),
                       {{"dropout", fmt::to_string(options.dropout)}});
  training.run();
  if (!data.split.test.empty()) {
    const bool others = data.test_images.samples() > 0;
    const auto score =
        train::evaluate<T>(world, model, others ? data.test_images : data.images, data.split.test);
    say(world, fmt::format("test accuracy {:.4f}, cross-entropy {:.4f} ({} samples)",
                           score.accuracy, score.cross_entropy, score.samples));
  }
}

void run(rondo::Communicator& world, const DigitsOptions& options) {
  const Data data = read_data(world, options);
  with_element_type(options, [&]<class T>(T) { train_model<T>(world, options, data); });
}

}  // namespace

int main(int argc, char** argv) {
  return rondo::run_main(argc, argv, [](int count, char** values) {
    return run_training_program("train_digits", count, values, parse_digits_options, run);
  });
}
