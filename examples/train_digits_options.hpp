#pragma once

#include <optional>
#include <string>

#include <rondo/communicator.hpp>

#include "training_options.hpp"

/// What train_digits' command line says.
struct DigitsOptions : TrainingOptions {
  DigitsOptions() {
    test_fraction = 0.2;
    epochs = 30;
    batch_size = 64;
    optimizer = "adamw";
    learning_rate = 0.002;
  }

  std::string images;  // empty: scikit-learn's digits, as labels
  std::string labels;
  std::string test_images;  // empty: --test-fraction of the images
  std::string test_labels;
  double dropout = 0.0;
};

/// Reads the command line, as parse_command_line() does; empty when the program shall end.
std::optional<DigitsOptions> parse_digits_options(const rondo::Communicator& world, int argc,
                                                  char** argv, int& status);
