#include <rondo/train/relu.hpp>

#include "train/activation.hpp"

namespace rondo::train {

namespace detail {

struct ReluFunction {
  static constexpr const char* kName = "relu";

  template <class T>
  static T value(T x) {
    return x < T{0} ? T{0} : x;
  }

  template <class T>
  static T gradient(T, T y, T output_gradient) {
    return y <= T{0} ? T{0} : output_gradient;
  }
};

}  // namespace detail

template class Activation<float, detail::ReluFunction>;
template class Activation<double, detail::ReluFunction>;

}  // namespace rondo::train
