#pragma once

#include <rondo/train/image.hpp>

namespace rondo::train {

/// Writes what a window sees of an image, so that a convolution becomes a matrix product ("im2col",
/// Chellapilla et al., 2006): row (channel, y, x) has the window's pixel (y, x) of that channel,
/// for each place of the window; padding is 0. `columns` is channels·size² × places.
template <class T>
void unfold(const ImageShape& image, const Window& window, const T* pixels, T* columns);

/// The other way round, adding: each pixel gets the sum of all elements that unfold() copied it to.
template <class T>
void fold(const ImageShape& image, const Window& window, const T* columns, T* pixels);

}  // namespace rondo::train
