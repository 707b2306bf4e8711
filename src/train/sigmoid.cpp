#include <rondo/train/sigmoid.hpp>

#include "train/activation.hpp"

namespace rondo::train {

template class Activation<float, detail::SigmoidFunction>;
template class Activation<double, detail::SigmoidFunction>;

}  // namespace rondo::train
