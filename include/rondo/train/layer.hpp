#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <rondo/train/parameter.hpp>

namespace rondo::train {

/// What layers with matrix products are given. bfloat16: their inputs and output gradients are
/// rounded to it first; products add up in T, and all else is in T, also what is multiplied inside
/// an LSTM or attention, where PyTorch's autocast rounds too. MasterWeights rounds the parameters.
enum class Precision { full, bfloat16 };

/// What a forward pass is for, and which samples are in it. Most layers don't look.
struct Pass {
  bool training = false;                      ///< else evaluation, which is not random
  std::uint64_t seed = 0;                     ///< of random masks
  std::uint64_t step = 0;                     ///< optimizer steps taken before this one
  std::span<const std::size_t> samples = {};  ///< each row's number in the data set
  Precision precision = Precision::full;      ///< of the pass and its backward()
};

/// Called in backward() with i as soon as the gradient of parameters()[i] is complete.
using GradientReady = std::function<void(std::size_t)>;

/// Whether backward() is to compute the gradient with respect to the layer's input. The first layer
/// of a model has no use for it, and saves the work.
enum class InputGradient { skip, compute };

/// A piece of a model: a function of rows (samples), with its derivative written out by hand.
/// Matrices are row-major, one sample a row; a sample of several dimensions lies in its row, the
/// last dimension innermost. 0 rows are allowed everywhere. Memory is kept, and grows with the
/// largest batch so far. May be moved; not thread-safe.
template <class T>
class Layer {
 public:
  Layer(Layer&&) noexcept = default;
  Layer& operator=(Layer&&) noexcept = default;
  virtual ~Layer() = default;

  /// How messages call the layer.
  const std::string& name() const { return name_; }
  /// Features of a sample that comes in, and that goes out.
  std::size_t inputs() const { return inputs_; }
  std::size_t outputs() const { return outputs_; }

  /// The layer's parameters in the order in which forward() uses them. The pointers stay valid as
  /// long as the layer is neither moved nor destroyed.
  virtual std::vector<Parameter<T>*> parameters() { return {}; }

  /// Names that no other layer of a model may have: those of the parameters, unless there are more.
  virtual std::vector<std::string> unique_names();

  /// Draws the parameters; each layer tells how. The same seed gives the same numbers everywhere.
  virtual void initialise(std::uint64_t) {}

  /// Takes the layer to another place: parameters, and from then on its outputs and gradients; what
  /// it is given must lie there as well. Before the optimizer's first step and the reducer's, or
  /// after the last. Throws Error(usage), naming the layer, if it computes on the host only.
  virtual void move_to(Compute& place);
  Compute& place() const { return *place_; }

  /// The outputs of `rows` samples: rows × outputs(), valid until the next forward(). `input` is
  /// rows × inputs() and must stay as it is until backward() has returned. Throws Error(usage) when
  /// its size differs.
  std::span<const T> forward(std::span<const T> input, std::size_t rows, const Pass& pass = {});

  /// From the gradient of a loss with respect to the last forward()'s outputs, writes (does not
  /// add) the parameters' gradients, as sums over the rows, and calls `ready` once for each, last
  /// parameter first. Returns the gradient with respect to the inputs, rows × inputs(), valid until
  /// the next backward(); nothing when it is not wanted. Throws Error(usage) when the size differs
  /// from the outputs'.
  std::span<const T> backward(std::span<const T> output_gradient, const GradientReady& ready,
                              InputGradient wanted = InputGradient::skip);

 protected:
  /// Throws Error(usage) unless both numbers of features are 1 to 2^31 - 1, which BLAS can index.
  Layer(std::string name, std::size_t inputs, std::size_t outputs);

  /// What forward() and backward() do once sizes are checked; there is at least one row.
  virtual std::span<const T> apply(std::span<const T> input, const Pass& pass) = 0;
  virtual std::span<const T> differentiate(std::span<const T> output_gradient,
                                           const GradientReady& ready, InputGradient wanted) = 0;

  /// Whether it computes in any place.
  virtual bool goes_anywhere() const { return false; }

  /// Whether inputs and output gradients are factors of matrix products.
  virtual bool multiplies() const { return false; }

  /// Of the last forward().
  std::size_t rows() const { return rows_; }
  std::span<const T> input() const { return input_; }

 private:
  /// What apply() and differentiate() see of `given`: with bfloat16, its copy in `memory`.
  std::span<const T> factor(std::span<const T> given, Tensor<T>& memory) const;

  std::string name_;
  std::size_t inputs_;
  std::size_t outputs_;
  Compute* place_ = &Compute::host();
  std::size_t rows_ = 0;
  std::span<const T> input_;
  Precision precision_ = Precision::full;
  Tensor<T> rounded_input_;
  Tensor<T> rounded_gradient_;
};

extern template class Layer<float>;
extern template class Layer<double>;

}  // namespace rondo::train
