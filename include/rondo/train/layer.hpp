#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include <rondo/train/parameter.hpp>

namespace rondo::train {

/// Called in backward() with i as soon as the gradient of parameters()[i] is complete.
using GradientReady = std::function<void(std::size_t)>;

/// A piece of a model: a function of rows (samples), with its derivative written out by hand.
/// Matrices are row-major, one sample a row; 0 rows are allowed everywhere. Not thread-safe.
template <class T>
class Layer {
 public:
  virtual ~Layer() = default;

  /// Features of a sample that comes in, and that goes out.
  virtual std::size_t inputs() const = 0;
  virtual std::size_t outputs() const = 0;

  /// The layer's parameters in the order in which forward() uses them. The pointers stay valid as
  /// long as the layer is neither moved nor destroyed.
  virtual std::vector<Parameter<T>*> parameters() = 0;

  /// The outputs of `rows` samples: rows × outputs(), valid until the next forward(). `input` is
  /// rows × inputs() and must stay as it is until backward() has returned. Throws Error(usage) when
  /// its size differs.
  virtual std::span<const T> forward(std::span<const T> input, std::size_t rows) = 0;

  /// From the gradient of a loss with respect to the last forward()'s outputs, writes (does not
  /// add) the parameters' gradients, as sums over the rows, and calls `ready` for each, last
  /// parameter first. Throws Error(usage) when its size differs from the outputs'.
  virtual void backward(std::span<const T> output_gradient, const GradientReady& ready) = 0;

  /// The gradient with respect to the inputs, rows × inputs(), for the layer before this one. Call
  /// it after backward() with the same argument; valid until the next call. The first layer of a
  /// model has no use for it, and saves the work.
  virtual std::span<const T> input_gradient(std::span<const T> output_gradient) = 0;
};

}  // namespace rondo::train
