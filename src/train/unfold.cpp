#include "train/unfold.hpp"

#include <algorithm>

namespace rondo::train {

namespace {

/// Of the places along `extent` pixels, those at which the window's pixel `offset` lies inside the
/// image: [begin, end). At place p it is pixel p·stride + offset - padding.
struct Inside {
  std::size_t begin;
  std::size_t end;

  Inside(const Window& window, std::size_t offset, std::size_t extent) {
    const auto first_not_below = [&](std::size_t pixel) {  // ⌈(pixel + padding - offset)/stride⌉
      const std::size_t target = pixel + window.padding;
      return target <= offset ? 0 : (target - offset + window.stride - 1) / window.stride;
    };
    const std::size_t places = window.places(extent);
    begin = std::min(first_not_below(0), places);
    end = std::clamp(first_not_below(extent), begin, places);
  }
};

/// Calls row(first column of the row, pixels, Inside) for every row of places of every window
/// pixel; `pixels` is null for rows that lie in the padding, else the pixel of place Inside::begin.
template <class Pixel, class Row>
void for_each_row(const ImageShape& image, const Window& window, Pixel* pixels, Row row) {
  const std::size_t high = window.places(image.height);
  const std::size_t wide = window.places(image.width);
  std::size_t column = 0;
  for (std::size_t channel = 0; channel < image.channels; ++channel, pixels += image.pixels())
    for (std::size_t y = 0; y < window.size; ++y) {
      const Inside rows(window, y, image.height);
      for (std::size_t x = 0; x < window.size; ++x) {
        const Inside inside(window, x, image.width);
        for (std::size_t place = 0; place < high; ++place, column += wide) {
          if (place < rows.begin || place >= rows.end || inside.begin == inside.end) {
            row(column, static_cast<Pixel*>(nullptr), inside);
            continue;
          }
          const std::size_t line = place * window.stride + y - window.padding;
          const std::size_t first = inside.begin * window.stride + x - window.padding;
          row(column, pixels + line * image.width + first, inside);
        }
      }
    }
}

}  // namespace

template <class T>
void unfold(const ImageShape& image, const Window& window, const T* pixels, T* columns) {
  const std::size_t wide = window.places(image.width);
  for_each_row(image, window, pixels, [&](std::size_t column, const T* from, const Inside& inside) {
    T* to = columns + column;
    if (from == nullptr) {
      std::fill_n(to, wide, T{0});
      return;
    }
    std::fill(to, to + inside.begin, T{0});
    if (window.stride == 1)
      std::copy_n(from, inside.end - inside.begin, to + inside.begin);
    else
      for (std::size_t i = inside.begin; i < inside.end; ++i, from += window.stride) to[i] = *from;
    std::fill(to + inside.end, to + wide, T{0});
  });
}

template <class T>
void fold(const ImageShape& image, const Window& window, const T* columns, T* pixels) {
  for_each_row(image, window, pixels, [&](std::size_t column, T* to, const Inside& inside) {
    if (to == nullptr) return;
    const T* from = columns + column;
    for (std::size_t i = inside.begin; i < inside.end; ++i)
      to[(i - inside.begin) * window.stride] += from[i];
  });
}

template void unfold(const ImageShape&, const Window&, const float*, float*);
template void unfold(const ImageShape&, const Window&, const double*, double*);
template void fold(const ImageShape&, const Window&, const float*, float*);
template void fold(const ImageShape&, const Window&, const double*, double*);

}  // namespace rondo::train
