#pragma once

#include <cstdint>
#include <string_view>

namespace rondo::core {

/// FNV-1a (Fowler, Noll & Vo, 1991): tells accidental differences apart, not malicious ones.
class Digest {
 public:
  void add(std::uint64_t word) {
    for (int shift = 0; shift < 64; shift += 8) add_byte(static_cast<std::uint8_t>(word >> shift));
  }
  /// Eight times as fast, but not FNV-1a any more: a word at a time.
  void mix(std::uint64_t word) {
    value_ = (value_ ^ word) * kPrime;
    value_ ^= value_ >> 32;  // or the upper bits would never reach the lower ones
  }
  void add(std::string_view text) {
    for (const char character : text) add_byte(static_cast<std::uint8_t>(character));
    add(std::uint64_t{text.size()});
  }
  std::uint64_t value() const { return value_; }

 private:
  void add_byte(std::uint8_t byte) { value_ = (value_ ^ byte) * kPrime; }

  static constexpr std::uint64_t kPrime = 0x100'0000'01b3;

  std::uint64_t value_ = 0xcbf2'9ce4'8422'2325;
};

}  // namespace rondo::core
