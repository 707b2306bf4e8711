#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <rondo/train/image.hpp>
#include <rondo/train/layer.hpp>

namespace rondo::train {

/// Cross-correlation of images with `channels` filters, as torch.nn.Conv2d has it:
///   y[o, p, q] = b[o] + Σ_{c,i,j} W[o, c, i, j]·x[c, p·stride + i - padding, q·stride + j -
///   padding]
/// where x is 0 outside of the image. Weight W is channels × input channels × size × size, bias b
/// has `channels` elements. A matrix product of BLAS for each sample.
template <class T>
class Conv2d final : public Layer<T> {
 public:
  /// Parameters are `name`.weight and `name`.bias, zeros. Throws Error(usage), naming the layer,
  /// when the window does not fit.
  Conv2d(const std::string& name, const ImageShape& input, std::size_t channels,
         const Window& window);

  /// Draws weight and bias uniformly from ±1/√(input channels·size²) (PyTorch's range).
  void initialise(std::uint64_t seed) override;

  /// The shape of a sample that goes out.
  const ImageShape& output_shape() const { return output_shape_; }

  Parameter<T>& weight() { return weight_; }
  Parameter<T>& bias() { return bias_; }
  std::vector<Parameter<T>*> parameters() override { return {&weight_, &bias_}; }

 private:
  Conv2d(const std::string& name, const ImageShape& input, const ImageShape& output,
         const Window& window);

  bool goes_anywhere() const override { return true; }
  bool multiplies() const override { return true; }
  std::span<const T> apply(std::span<const T> input, const Pass& pass) override;
  std::span<const T> differentiate(std::span<const T> output_gradient, const GradientReady& ready,
                                   InputGradient wanted) override;
  void differentiate_bias(std::span<const T> output_gradient);
  void differentiate_weight(std::span<const T> output_gradient);
  std::span<const T> differentiate_input(std::span<const T> output_gradient);

  /// `count` samples of the input as matrices, whose products with the weight are outputs.
  std::span<const T> unfolded(std::size_t first, std::size_t count);
  std::size_t samples_at_once() const;
  template <class Body>
  void for_each_part(Body body);

  /// Elements that one output pixel depends on, in one sample.
  std::size_t patch() const { return input_shape_.channels * window_.size * window_.size; }

  ImageShape input_shape_;
  Window window_;
  ImageShape output_shape_;
  Parameter<T> weight_;
  Parameter<T> bias_;
  Tensor<T> columns_;  // samples, unfolded: each patch × output pixels
  Tensor<T> plane_sums_;
  Tensor<T> output_;
  Tensor<T> input_gradient_;
};

extern template class Conv2d<float>;
extern template class Conv2d<double>;

}  // namespace rondo::train
