#include <rondo/train/tanh.hpp>

#include "train/activation.hpp"

namespace rondo::train {

template class Activation<float, detail::TanhFunction>;
template class Activation<double, detail::TanhFunction>;

}  // namespace rondo::train
