#include <rondo/train/compression.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>

#include <fmt/core.h>

#include <rondo/error.hpp>
#include <rondo/train/array.hpp>

namespace rondo::train {

namespace {

constexpr std::array<std::string_view, 5> kNames{"none", "bf16", "f16", "topk", "powersgd"};

/// The whole of `text` as a number within [least, most].
template <class T>
std::optional<T> number_in(std::string_view text, T least, T most) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return {};
  if (!(value >= least && value <= most)) return {};
  return value;
}

std::optional<Compression> parse(std::string_view text) {
  const std::size_t colon = text.find(':');
  Compression result;
  std::size_t kind = 0;
  while (kind < kNames.size() && kNames[kind] != text.substr(0, colon)) ++kind;
  if (kind == kNames.size()) return {};
  result.kind = static_cast<Compression::Kind>(kind);
  if (colon == std::string_view::npos) return result;
  const std::string_view argument = text.substr(colon + 1);
  if (result.kind == Compression::Kind::topk) {
    const auto fraction = number_in(argument, 1e-9, 1.0);
    if (!fraction) return {};
    result.fraction = *fraction;
  } else if (result.kind == Compression::Kind::powersgd) {
    const auto rank = number_in<std::size_t>(argument, 1, 1'000'000);
    if (!rank) return {};
    result.rank = *rank;
  } else {
    return {};
  }
  return result;
}

}  // namespace

void check(const Compression& compression) {
  if (!(compression.fraction > 0.0 && compression.fraction <= 1.0))
    throw Error(ErrorCode::usage,
                fmt::format("topk's fraction is {}; above 0 and at most 1 it must be",
                            compression.fraction));
  if (compression.rank == 0)
    throw Error(ErrorCode::usage, "powersgd's rank is 0; it must be 1 at least");
}

Compression parse_compression(std::string_view text) {
  if (const auto result = parse(text)) return *result;
  throw Error(
      ErrorCode::usage,
      fmt::format("compression '{}' is not known; there are none, bf16, f16, topk[:FRACTION "
                  "of 1], powersgd[:RANK]",
                  text));
}

namespace {

template <class T>
void deal_out(std::span<const ConstBuffer> saved, Slice slice, T* residual) {
  for (std::size_t i = slice.begin; i < slice.begin + slice.count; ++i) {
    double sum = 0.0;
    for (const ConstBuffer& one : saved)
      sum += static_cast<double>(static_cast<const T*>(one.data)[i]);
    residual[i] = static_cast<T>(sum);
  }
}

}  // namespace

void deal_out_residual(std::span<const ConstBuffer> saved, Rank rank, int ranks, Buffer residual) {
  const bool wide = residual.type == DataType::float64;
  for (const ConstBuffer& one : saved)
    if (one.type != residual.type || one.count != residual.count ||
        (!wide && residual.type != DataType::float32))
      throw Error(
          ErrorCode::usage,
          fmt::format("a saved residual is {} elements of {}; {} of {} are needed, of "
                      "float32 or float64",
                      one.count, name_of(one.type), residual.count, name_of(residual.type)));
  if (residual.count == 0) return;
  std::memset(residual.data, 0, residual.bytes());
  const auto border = [&](int of) {
    return residual.count / static_cast<std::size_t>(ranks) * static_cast<std::size_t>(of) +
           std::min(residual.count % static_cast<std::size_t>(ranks), static_cast<std::size_t>(of));
  };
  const Slice slice{border(rank), border(rank + 1) - border(rank)};
  if (wide)
    deal_out(saved, slice, static_cast<double*>(residual.data));
  else
    deal_out(saved, slice, static_cast<float*>(residual.data));
}

std::string to_string(const Compression& compression) {
  const std::string_view name = kNames[static_cast<std::size_t>(compression.kind)];
  if (compression.kind == Compression::Kind::topk)
    return fmt::format("{}:{}", name, compression.fraction);
  if (compression.kind == Compression::Kind::powersgd)
    return fmt::format("{}:{}", name, compression.rank);
  return std::string(name);
}

}  // namespace rondo::train
