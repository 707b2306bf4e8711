#pragma once

#include <rondo/buffer.hpp>

namespace rondo::train {

/// Whether no element is infinite or NaN. `data` is of a floating type.
bool all_finite(ConstBuffer data);

}  // namespace rondo::train
