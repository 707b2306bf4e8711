#include "collectives/signature.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

namespace rondo::collectives {

static_assert(std::is_trivially_copyable_v<Signature> && sizeof(Signature) == 80,
              "a signature travels as it is, without padding");

void set_algorithm(Signature& signature, std::string_view name) {
  const std::size_t length = std::min(name.size(), signature.algorithm.size() - 1);
  signature.algorithm.fill('\0');
  std::copy_n(name.begin(), length, signature.algorithm.begin());
}

// A sum of products with odd factors: what differs in one word has another sum, and no product
// waits for another, since every call within a node waits for this.

namespace {
constexpr std::uint64_t kFactor = 0x9e37'79b9'7f4a'7c15;  // 2^64 over the golden ratio
}

std::uint64_t digest_of_terms(const Signature& signature) {
  std::array<std::uint64_t, sizeof(Signature) / sizeof(std::uint64_t)> words;
  std::memcpy(words.data(), &signature, sizeof signature);
  static_assert(offsetof(Signature, sequence) == 0);
  std::uint64_t sum = 0;
  std::uint64_t factor = kFactor;
  for (std::size_t i = 1; i < words.size(); ++i) {
    factor *= kFactor;
    sum += words[i] * factor;
  }
  return sum;
}

std::uint64_t digest(std::uint64_t of_terms, std::uint64_t sequence) {
  return of_terms + sequence * kFactor;
}

std::string describe(const Signature& signature) {
  std::string text = fmt::format("{}{} #{}", signature.asynchronous != 0 ? "i" : "",
                                 name_of(signature.collective), signature.sequence);
  if (!moves_data(signature.collective)) return text;
  text += fmt::format(" of {} {}", signature.count, name_of(signature.type));
  if (reduces(signature.collective)) text += fmt::format(", {}", name_of(signature.op));
  if (has_root(signature.collective)) text += fmt::format(", root {}", signature.root);
  if (signature.algorithm[0] != '\0') text += fmt::format(", {}", signature.algorithm.data());
  if (signature.segment_bytes != 0)
    text += fmt::format(", segments of {} bytes", signature.segment_bytes);
  if (signature.narrow != 0) text += ", narrow wire";
  if (signature.deterministic != 0) text += ", deterministic";
  if (signature.on_device != 0) text += ", from a device's memory";
  if (signature.scale != 1.0) text += fmt::format(", scale {}", signature.scale);
  return text;
}

std::string differences(const Signature& a, const Signature& b) {
  std::vector<std::string_view> fields;
  const auto compare = [&](const auto& left, const auto& right, std::string_view field) {
    if (left != right) fields.push_back(field);
  };
  compare(a.collective, b.collective, "collective");
  compare(a.count, b.count, "count");
  compare(a.type, b.type, "type");
  compare(a.op, b.op, "op");
  compare(a.root, b.root, "root");
  compare(a.algorithm, b.algorithm, "algorithm");
  compare(a.segment_bytes, b.segment_bytes, "segment_bytes");
  compare(a.narrow, b.narrow, "wire");
  compare(a.deterministic, b.deterministic, "deterministic");
  compare(a.asynchronous, b.asynchronous, "whether the call waits");
  compare(a.on_device, b.on_device, "whether the memory is a device's");
  compare(a.scale, b.scale, "scale");
  compare(a.sequence, b.sequence, "number of earlier operations");
  compare(a.details, b.details, "the sizes of blocks, or the version of Rondo");
  return fmt::format("{}", fmt::join(fields, ", "));
}

}  // namespace rondo::collectives
