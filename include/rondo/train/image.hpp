#pragma once

#include <cstddef>
#include <string>

namespace rondo::train {

/// The shape of a sample that is an image: channels × height × width, in this order in memory.
struct ImageShape {
  std::size_t channels = 1;
  std::size_t height = 1;
  std::size_t width = 1;

  constexpr std::size_t pixels() const { return height * width; }
  constexpr std::size_t size() const { return channels * pixels(); }
};

/// A square window that slides over an image with `padding` pixels around it.
struct Window {
  std::size_t size = 1;
  std::size_t stride = 1;
  std::size_t padding = 0;

  /// Places of the window along `extent` pixels: ⌊(extent + 2·padding - size)/stride⌋ + 1.
  constexpr std::size_t places(std::size_t extent) const {
    return (extent + 2 * padding - size) / stride + 1;
  }
  /// The shape of an image that has a pixel for each place of the window. Throws Error(usage),
  /// naming the layer, when the image has no pixels, the window is larger than the image with its
  /// padding, or its size or stride is 0.
  ImageShape places(const std::string& layer, const ImageShape& image, std::size_t channels) const;
};

}  // namespace rondo::train
