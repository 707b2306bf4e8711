#include <rondo/train/relu.hpp>

#include "train/activation.hpp"

namespace rondo::train {

template class Activation<float, detail::ReluFunction>;
template class Activation<double, detail::ReluFunction>;

}  // namespace rondo::train
