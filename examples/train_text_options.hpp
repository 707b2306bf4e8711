#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include <rondo/communicator.hpp>

#include "training_options.hpp"

/// What train_text's command line says.
struct TextOptions : TrainingOptions {
  TextOptions() {
    test_fraction = 0.1;
    epochs = 12;
    batch_size = 32;
    optimizer = "adamw";
    learning_rate = 0.004;
  }

  std::string file;  // empty: the book of Genesis
  std::string model = "lstm";
  std::size_t layers = 1;
  std::size_t width = 128;
  std::size_t heads = 4;
  std::size_t context = 64;
  std::size_t sample = 200;
};

/// Reads the command line, as parse_command_line() does; empty when the program shall end.
std::optional<TextOptions> parse_text_options(const rondo::Communicator& world, int argc,
                                              char** argv, int& status);
