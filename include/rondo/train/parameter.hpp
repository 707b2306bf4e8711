#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <rondo/train/tensor.hpp>

namespace rondo::train {

/// A trained tensor and where its gradient is written. Its gradient lies in memory of its own until
/// store_gradient_in() names other memory, such as a reducer's bucket.
///
/// Neither copied nor thread-safe; may be moved, which keeps value and gradient where they are.
template <class T>
class Parameter {
 public:
  /// Value and gradient are zeros. `name` is how messages and checkpoints call it: "linear.weight".
  Parameter(std::string name, std::vector<std::size_t> shape);
  Parameter(Parameter&&) noexcept = default;
  Parameter& operator=(Parameter&&) noexcept = default;

  const std::string& name() const { return name_; }
  Tensor<T>& value() { return value_; }
  const Tensor<T>& value() const { return value_; }
  std::span<T> gradient() { return gradient_; }
  std::span<const T> gradient() const { return gradient_; }
  std::size_t size() const { return value_.size(); }

  /// From now on the gradient is `memory`, which the caller keeps alive as long as the parameter;
  /// its contents stay. It lies where the value does. Throws Error(usage) unless it has size()
  /// elements.
  void store_gradient_in(std::span<T> memory);

  /// Takes value and gradient to another place; the gradient then lies in memory of its own.
  void move_to(Compute& place);

 private:
  std::string name_;
  Tensor<T> value_;
  Tensor<T> own_gradient_;  // empty once the gradient lies elsewhere
  std::span<T> gradient_;
};

extern template class Parameter<float>;
extern template class Parameter<double>;

/// The values of `parameters`, as checkpoints and broadcast_parameters() take them.
template <class T>
std::vector<ArrayView> values_of(std::span<Parameter<T>* const> parameters);

extern template std::vector<ArrayView> values_of(std::span<Parameter<float>* const>);
extern template std::vector<ArrayView> values_of(std::span<Parameter<double>* const>);

}  // namespace rondo::train
