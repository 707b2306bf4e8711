#include "train_digits_options.hpp"

#include <CLI/CLI.hpp>

std::optional<DigitsOptions> parse_digits_options(const rondo::Communicator& world, int argc,
                                                  char** argv, int& status) {
  DigitsOptions options;
  CLI::App app(
      "Trains a convolutional network on images of digits, on all ranks of mpirun: the network "
      "that one process gives.",
      "train_digits");
  auto* const images = app.add_option("--images", options.images,
                                      "IDX file, plain or .gz [the 8x8 digits that come with it]");
  auto* const labels = app.add_option("--labels", options.labels, "IDX file of their classes");
  auto* const test_images =
      app.add_option("--test-images", options.test_images,
                     "IDX file of images for the test [--test-fraction of the images]");
  auto* const test_labels =
      app.add_option("--test-labels", options.test_labels, "IDX file of their classes");
  images->needs(labels);
  labels->needs(images);
  test_images->needs(test_labels, images);
  test_labels->needs(test_images);
  app.add_option("--dropout", options.dropout, "probability of dropping a feature in training")
      ->check(CLI::Range(0.0, 0.99))
      ->capture_default_str();
  add_training_options(app, options);
  if (!parse_command_line(app, world, argc, argv, status)) return {};
  return options;
}
