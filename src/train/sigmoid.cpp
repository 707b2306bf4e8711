#include <rondo/train/sigmoid.hpp>

#include "train/activation.hpp"
#include "train/sigmoid.hpp"

namespace rondo::train {

namespace detail {

struct SigmoidFunction {
  static constexpr const char* kName = "sigmoid";

  template <class T>
  static T value(T x) {
    return sigmoid(x);
  }

  template <class T>
  static T gradient(T, T y, T output_gradient) {
    return output_gradient * y * (T{1} - y);
  }
};

}  // namespace detail

template class Activation<float, detail::SigmoidFunction>;
template class Activation<double, detail::SigmoidFunction>;

}  // namespace rondo::train
