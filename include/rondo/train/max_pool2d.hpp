#pragma once

#include <cstddef>
#include <cstdint>

#include <rondo/train/image.hpp>
#include <rondo/train/layer.hpp>

namespace rondo::train {

/// The largest pixel of each place of a window, channel by channel, as torch.nn.MaxPool2d has it:
/// padding never is the largest, not a number always is, and the gradient goes to the first of
/// equals.
template <class T>
class MaxPool2d final : public Layer<T> {
 public:
  /// Throws Error(usage) when the window does not fit, or its padding is more than half its size.
  MaxPool2d(const ImageShape& input, const Window& window);

  /// The shape of a sample that goes out.
  const ImageShape& output_shape() const { return output_shape_; }

 private:
  MaxPool2d(const ImageShape& input, const ImageShape& output, const Window& window);

  bool goes_anywhere() const override { return true; }
  std::span<const T> apply(std::span<const T> input, const Pass& pass) override;
  std::span<const T> differentiate(std::span<const T> output_gradient, const GradientReady& ready,
                                   InputGradient wanted) override;

  ImageShape input_shape_;
  Window window_;
  ImageShape output_shape_;
  Tensor<T> output_;
  Tensor<std::uint32_t> chosen_;  // each output's pixel in its plane of the input
  Tensor<T> input_gradient_;
};

extern template class MaxPool2d<float>;
extern template class MaxPool2d<double>;

}  // namespace rondo::train
