#include <rondo/train/gelu.hpp>

#include "train/activation.hpp"

namespace rondo::train {

template class Activation<float, detail::GeluFunction>;
template class Activation<double, detail::GeluFunction>;

}  // namespace rondo::train
