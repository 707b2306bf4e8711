#include <rondo/train/text_data.hpp>

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include <rondo/error.hpp>
#include <rondo/train/cross_entropy.hpp>

#include "core/digest.hpp"
#include "train/same_data.hpp"
#include "train/text_file.hpp"

namespace rondo::train {

std::size_t TextData::samples() const {
  return characters.size() <= context ? 0 : (characters.size() - 2) / context + 1;
}

std::size_t TextData::begin(std::size_t sample) const {
  return std::min(sample * context, characters.size() - 1 - context);
}

std::vector<std::uint32_t> TextData::labels(std::size_t sample) const {
  const auto next = std::span(characters).subspan(begin(sample) + 1, context);
  std::vector<std::uint32_t> labels(next.begin(), next.end());
  const std::size_t overlap = sample * context - begin(sample);
  std::fill_n(labels.begin(), overlap, kNoTarget);
  return labels;
}

std::uint64_t TextData::fingerprint() const {
  core::Digest hash;
  hash.add(alphabet);
  hash.add(std::uint64_t{context});
  hash.add({reinterpret_cast<const char*>(characters.data()), characters.size()});
  return hash.value();
}

TextData read_text_data(const std::string& path, std::size_t context) {
  const std::string text = read_text_file(path);
  if (context == 0 || text.size() <= context)
    throw Error(ErrorCode::usage,
                fmt::format("'{}' has {} characters; a context of {} is possible from 1 to {}",
                            path, text.size(), context, text.empty() ? 0 : text.size() - 1));
  TextData data;
  data.context = context;
  std::array<bool, 256> seen{};
  for (const char c : text) seen[static_cast<std::uint8_t>(c)] = true;
  std::array<std::uint8_t, 256> number{};
  for (std::size_t byte = 0; byte < seen.size(); ++byte)
    if (seen[byte]) {
      number[byte] = static_cast<std::uint8_t>(data.alphabet.size());
      data.alphabet.push_back(static_cast<char>(byte));
    }
  data.characters.reserve(text.size());
  for (const char c : text) data.characters.push_back(number[static_cast<std::uint8_t>(c)]);
  return data;
}

void check_same_data(Communicator& communicator, const TextData& data) {
  check_same_fingerprint(communicator, data.fingerprint());
}

}  // namespace rondo::train
