#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include <rondo/train/image.hpp>

#include "core/each.hpp"

// What convolutions and pooling do with one plane: one channel of one sample.
namespace rondo::train {

/// Makes every pixel its channel's value.
template <class T>
struct FillPlane {
  using Element = T;
  static std::string name() { return "fill_plane"; }

  std::size_t channels;
  std::size_t pixels;

  RONDO_EVERYWHERE void operator()(std::size_t plane, T* images, const T* values) const {
    T* const to = images + plane * pixels;
    const T value = values[plane % channels];
    for (std::size_t i = 0; i < pixels; ++i) to[i] = value;
  }
};

/// Adds up the pixels.
template <class T>
struct SumPlane {
  using Element = T;
  static std::string name() { return "sum_plane"; }

  std::size_t pixels;

  RONDO_EVERYWHERE void operator()(std::size_t plane, const T* images, T* sums) const {
    const T* const from = images + plane * pixels;
    T sum{0};
    for (std::size_t i = 0; i < pixels; ++i) sum += from[i];
    sums[plane] = sum;
  }
};

/// Of the places along `extent` pixels, those at which the window's pixel `offset` lies inside the
/// image: [begin, end). At place p it is pixel p·stride + offset - padding.
struct Inside {
  std::size_t begin;
  std::size_t end;

  RONDO_EVERYWHERE Inside(const Window& window, std::size_t offset, std::size_t extent) {
    const std::size_t places = window.places(extent);
    begin = std::min(first_not_below(0, window, offset), places);
    end = std::clamp(first_not_below(extent, window, offset), begin, places);
  }

 private:
  /// ⌈(pixel + padding - offset)/stride⌉
  RONDO_EVERYWHERE static std::size_t first_not_below(std::size_t pixel, const Window& window,
                                                      std::size_t offset) {
    const std::size_t target = pixel + window.padding;
    return target <= offset ? 0 : (target - offset + window.stride - 1) / window.stride;
  }
};

/// What a window's pixel (y, x) sees of a plane: a row of a matrix that has one for each channel
/// and pixel of the window, in this order ("im2col", Chellapilla et al., 2006); padding is 0. A row
/// has as many columns as the window has places.
template <class T>
struct Unfold {
  using Element = T;
  static std::string name() { return "unfold"; }

  ImageShape image;
  Window window;

  /// Row i of the matrices of all samples.
  RONDO_EVERYWHERE void operator()(std::size_t i, const T* images, T* matrices) const {
    const std::size_t x = i % window.size;
    const std::size_t y = i / window.size % window.size;
    const T* const plane = images + i / (window.size * window.size) * image.pixels();
    const std::size_t high = window.places(image.height);
    const std::size_t wide = window.places(image.width);
    const Inside lines(window, y, image.height);
    const Inside inside(window, x, image.width);
    T* to = matrices + i * high * wide;
    for (std::size_t place = 0; place < high; ++place, to += wide) {
      if (place < lines.begin || place >= lines.end || inside.begin == inside.end) {
        for (std::size_t p = 0; p < wide; ++p) to[p] = T{0};
        continue;
      }
      const std::size_t line = place * window.stride + y - window.padding;
      const T* const from = plane + line * image.width + x - window.padding;
      for (std::size_t p = 0; p < inside.begin; ++p) to[p] = T{0};
      if (window.stride == 1)
        for (std::size_t p = inside.begin; p < inside.end; ++p) to[p] = from[p];
      else
        for (std::size_t p = inside.begin; p < inside.end; ++p) to[p] = from[p * window.stride];
      for (std::size_t p = inside.end; p < wide; ++p) to[p] = T{0};
    }
  }
};

/// The other way round: each pixel of a plane is the sum of all elements that Unfold copied it to.
template <class T>
struct FoldPlane {
  using Element = T;
  static std::string name() { return "fold_plane"; }

  ImageShape image;
  Window window;

  RONDO_EVERYWHERE void operator()(std::size_t i, const T* matrices, T* images) const {
    const std::size_t high = window.places(image.height);
    const std::size_t wide = window.places(image.width);
    T* const plane = images + i * image.pixels();
    for (std::size_t p = 0; p < image.pixels(); ++p) plane[p] = T{0};
    const T* from = matrices + i * window.size * window.size * high * wide;
    for (std::size_t y = 0; y < window.size; ++y) {
      const Inside lines(window, y, image.height);
      for (std::size_t x = 0; x < window.size; ++x, from += high * wide) {
        const Inside inside(window, x, image.width);
        for (std::size_t place = lines.begin; place < lines.end; ++place) {
          const std::size_t line = place * window.stride + y - window.padding;
          T* const to = plane + line * image.width + x - window.padding;
          for (std::size_t p = inside.begin; p < inside.end; ++p)
            to[p * window.stride] += from[place * wide + p];
        }
      }
    }
  }
};

/// The largest pixel of each place of a window, and which it is.
template <class T>
struct MaxPool {
  using Element = T;
  static std::string name() { return "max_pool"; }

  ImageShape image;
  Window window;

  RONDO_EVERYWHERE void operator()(std::size_t plane, const T* images, T* outputs,
                                   std::uint32_t* all_chosen) const {
    const std::size_t high = window.places(image.height);
    const std::size_t wide = window.places(image.width);
    const T* const pixels = images + plane * image.pixels();
    T* output = outputs + plane * high * wide;
    std::uint32_t* chosen = all_chosen + plane * high * wide;
    for (std::size_t y = 0; y < high; ++y)
      for (std::size_t x = 0; x < wide; ++x) {
        *chosen = largest(pixels, y, x);
        *output++ = pixels[*chosen++];
      }
  }

 private:
  /// The pixels of one dimension that the window covers at a place: [begin, end).
  struct Covered {
    std::size_t begin;
    std::size_t end;

    RONDO_EVERYWHERE Covered(const Window& window, std::size_t place, std::size_t extent)
        : begin(std::max(place * window.stride, window.padding) - window.padding),
          end(std::min(place * window.stride + window.size - window.padding, extent)) {}
  };

  RONDO_EVERYWHERE std::uint32_t largest(const T* pixels, std::size_t y, std::size_t x) const {
    const Covered lines(window, y, image.height);
    const Covered columns(window, x, image.width);
    std::size_t best = lines.begin * image.width + columns.begin;
    for (std::size_t line = lines.begin; line < lines.end; ++line)
      for (std::size_t column = columns.begin; column < columns.end; ++column) {
        const std::size_t pixel = line * image.width + column;
        if (pixels[pixel] > pixels[best] || std::isnan(pixels[pixel])) best = pixel;
      }
    return static_cast<std::uint32_t>(best);
  }
};

/// From the gradient of MaxPool's outputs, that of its inputs.
template <class T>
struct MaxPoolGradient {
  using Element = T;
  static std::string name() { return "max_pool_gradient"; }

  std::size_t pixels;
  std::size_t places;

  RONDO_EVERYWHERE void operator()(std::size_t plane, const T* output_gradient,
                                   const std::uint32_t* chosen, T* input_gradient) const {
    T* const to = input_gradient + plane * pixels;
    for (std::size_t p = 0; p < pixels; ++p) to[p] = T{0};
    for (std::size_t i = plane * places; i < (plane + 1) * places; ++i)
      to[chosen[i]] += output_gradient[i];
  }
};

}  // namespace rondo::train
