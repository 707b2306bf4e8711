#include <rondo/half.hpp>

#include "core/element.hpp"

namespace rondo {

bfloat16::bfloat16(float value) : bits(core::narrow<bfloat16>(value).bits) {}

bfloat16::operator float() const { return core::widen(*this); }

float16::float16(float value) : bits(core::narrow<float16>(value).bits) {}

float16::operator float() const { return core::widen(*this); }

}  // namespace rondo
