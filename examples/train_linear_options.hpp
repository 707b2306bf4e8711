#pragma once

#include <optional>
#include <string>
#include <vector>

#include <rondo/communicator.hpp>
#include <rondo/train/train.hpp>

#include "training_options.hpp"

/// What train_linear's command line says. The defaults bring the weights for the diamonds within
/// 1e-3 of the exact solution; what keeps them from coming closer is the last batch of an epoch,
/// whose few samples weigh as much as a whole batch, so the test fraction leaves it nearly full.
struct LinearOptions : TrainingOptions {
  std::string data;  // empty: the diamonds
  std::string target = "price";
  std::vector<std::string> categorical;
  rondo::train::Missing missing = rondo::train::Missing::error;
};

/// Reads the command line, as parse_command_line() does; empty when the program shall end.
std::optional<LinearOptions> parse_linear_options(const rondo::Communicator& world, int argc,
                                                  char** argv, int& status);
