#include <rondo/train/image.hpp>

#include <algorithm>

#include <fmt/core.h>

#include <rondo/error.hpp>

namespace rondo::train {

ImageShape Window::places(const std::string& layer, const ImageShape& image,
                          std::size_t channels) const {
  const std::size_t least = std::min(image.height, image.width);
  if (image.size() == 0 || size == 0 || stride == 0 || size > least + 2 * padding)
    throw Error(
        ErrorCode::usage,
        fmt::format("layer '{}' can't slide a window of size {}, stride {} and padding {} "
                    "over images of {}×{}×{}",
                    layer, size, stride, padding, image.channels, image.height, image.width));
  return {channels, places(image.height), places(image.width)};
}

}  // namespace rondo::train
