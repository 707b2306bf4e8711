#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace rondo {
class Communicator;
}

namespace rondo::train {

/// A text, cut into samples for a model that predicts each character from those before it. A
/// character is a byte; it goes by its number in the alphabet.
///
///   sample s    features   characters [b, b + context)      b = s·context
///               labels     characters [b + 1, b + context + 1): each feature's next one
///
/// The last sample begins earlier, so as to end with the text; labels that the one before it has
/// are kNoTarget there. So each character but the first is the label of one sample.
struct TextData {
  std::string alphabet;                  ///< the text's characters, each once, ascending
  std::vector<std::uint8_t> characters;  ///< the text
  std::size_t context = 0;               ///< characters of a sample

  std::size_t samples() const;
  std::size_t width() const { return context; }
  /// Characters in the alphabet.
  std::size_t classes() const { return alphabet.size(); }
  std::span<const std::uint8_t> row(std::size_t sample) const {
    return std::span(characters).subspan(begin(sample), context);
  }
  /// One label for each of a sample's characters.
  std::vector<std::uint32_t> labels(std::size_t sample) const;

  /// A number that two texts cut alike share only if they are the same (FNV-1a, 64 bits).
  std::uint64_t fingerprint() const;

 private:
  std::size_t begin(std::size_t sample) const;
};

/// Reads a text, plain or gzip. Throws Error(system) when it cannot be read, Error(corrupt_file)
/// when it is damaged, and Error(usage), naming it, unless it has more than `context` characters;
/// a context of 0 is refused too.
TextData read_text_data(const std::string& path, std::size_t context);

/// As for Dataset. Collective.
void check_same_data(Communicator& communicator, const TextData& data);

}  // namespace rondo::train
