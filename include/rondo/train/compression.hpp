#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <rondo/buffer.hpp>

namespace rondo::train {

/// What becomes of gradients on their way between ranks: a reducer's communication hook. All but
/// `none` are for float32 and float64; gradients of 16 bits travel as they are.
struct Compression {
  enum class Kind {
    none,
    bf16,  ///< sums in bfloat16, half of float32's bytes; each rank's share is scaled by 1/samples
           ///< before it is rounded
    f16,   ///< the same in float16: more digits, less range (beyond 65,504 it is infinite)
    topk,  ///< of each bucket only the largest elements travel, with their places; the rest is kept
           ///< for the next step (error feedback; Aji & Heafield, 2017; Stich et al., 2018)
    powersgd,  ///< matrices travel as products of two thin ones, with error feedback (Vogels,
               ///< Karimireddy & Jaggi, 2019); vectors as they are
  };
  Kind kind = Kind::none;
  double fraction = 0.01;  ///< of the elements, for topk: above 0, at most 1
  std::size_t rank = 2;    ///< columns of the thin matrices, for powersgd: at least 1
};

/// Throws Error(usage) for a fraction or rank out of range.
void check(const Compression& compression);

/// Reads "none", "bf16", "f16", "topk", "topk:FRACTION", "powersgd" or "powersgd:RANK". Throws
/// Error(usage) naming `text` when it is none of these or out of range.
Compression parse_compression(std::string_view text);

/// The text that parse_compression() reads.
std::string to_string(const Compression& compression);

/// What rank `rank` of `ranks` starts from when the residuals of one parameter were saved by
/// another number of ranks: `saved`, one of each. What counts is their sum, so each rank gets a
/// slice of it, and zeros elsewhere. All are of one type, float32 or float64, and have as many
/// elements as `residual`, else Error(usage) is thrown. Not collective.
void deal_out_residual(std::span<const ConstBuffer> saved, Rank rank, int ranks, Buffer residual);

}  // namespace rondo::train
