#include "train_text_options.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

std::optional<TextOptions> parse_text_options(const rondo::Communicator& world, int argc,
                                              char** argv, int& status) {
  TextOptions options;
  CLI::App app(
      "Trains a model that predicts each character (byte) of a text from those before it, on all "
      "ranks of mpirun: the model that one process gives.",
      "train_text");
  const CLI::Range sizes(std::size_t{1}, std::size_t{1} << 16);
  app.add_option("--file", options.file,
                 "text, plain or .gz [the book of Genesis that comes with it]");
  app.add_option("--model", options.model)
      ->check(CLI::IsMember({"lstm", "transformer"}))
      ->capture_default_str();
  app.add_option("--layers", options.layers, "LSTM layers or transformer blocks")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1000}))
      ->capture_default_str();
  app.add_option("--width", options.width, "features of a character, in every layer")
      ->check(sizes)
      ->capture_default_str();
  app.add_option("--heads", options.heads, "attention heads of a transformer block")
      ->check(sizes)
      ->capture_default_str();
  app.add_option("--context", options.context, "characters that a prediction may look back on")
      ->check(sizes)
      ->capture_default_str();
  app.add_option("--sample", options.sample, "characters of text to let the trained model write")
      ->capture_default_str();
  app.parse_complete_callback([&] {
    if (options.model == "transformer" && options.width % options.heads != 0)
      throw CLI::ValidationError(
          "--heads", fmt::format("{} does not divide --width {}", options.heads, options.width));
  });
  add_training_options(app, options);
  if (!parse_command_line(app, world, argc, argv, status)) return {};
  return options;
}
