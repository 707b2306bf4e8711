#include "images.hpp"

#include <array>

// The assembler puts each file into the library as it is.
#define RONDO_IMAGE(name, path)      \
  asm(".section .nv_fatbin, \"a\"\n" \
      ".balign 16\n"                 \
      ".hidden rondo_image_" name    \
      "\n"                           \
      ".globl rondo_image_" name     \
      "\n"                           \
      "rondo_image_" name            \
      ":\n"                          \
      ".incbin \"" path              \
      "\"\n"                         \
      ".hidden rondo_image_" name    \
      "_end\n"                       \
      ".globl rondo_image_" name     \
      "_end\n"                       \
      "rondo_image_" name            \
      "_end:\n"                      \
      ".byte 0\n"                    \
      ".text\n")

RONDO_IMAGE("reduce_integer", RONDO_CUDA_KERNELS "/reduce_integer.fatbin");
RONDO_IMAGE("reduce_floating", RONDO_CUDA_KERNELS "/reduce_floating.fatbin");
RONDO_IMAGE("convert", RONDO_CUDA_KERNELS "/convert.fatbin");
RONDO_IMAGE("elements", RONDO_CUDA_KERNELS "/elements.fatbin");
RONDO_IMAGE("images", RONDO_CUDA_KERNELS "/images.fatbin");
RONDO_IMAGE("rows", RONDO_CUDA_KERNELS "/rows.fatbin");

// NOLINTBEGIN(readability-identifier-naming): as the assembler has them
extern "C" {
[[gnu::visibility("hidden")]] extern const char rondo_image_reduce_integer[];
[[gnu::visibility("hidden")]] extern const char rondo_image_reduce_integer_end[];
[[gnu::visibility("hidden")]] extern const char rondo_image_reduce_floating[];
[[gnu::visibility("hidden")]] extern const char rondo_image_reduce_floating_end[];
[[gnu::visibility("hidden")]] extern const char rondo_image_convert[];
[[gnu::visibility("hidden")]] extern const char rondo_image_convert_end[];
[[gnu::visibility("hidden")]] extern const char rondo_image_elements[];
[[gnu::visibility("hidden")]] extern const char rondo_image_elements_end[];
[[gnu::visibility("hidden")]] extern const char rondo_image_images[];
[[gnu::visibility("hidden")]] extern const char rondo_image_images_end[];
[[gnu::visibility("hidden")]] extern const char rondo_image_rows[];
[[gnu::visibility("hidden")]] extern const char rondo_image_rows_end[];
}
// NOLINTEND(readability-identifier-naming)

namespace rondo::cuda {

std::span<const Image> images() {
  static const std::array<Image, 6> all{
      {{rondo_image_reduce_integer, rondo_image_reduce_integer_end},
       {rondo_image_reduce_floating, rondo_image_reduce_floating_end},
       {rondo_image_convert, rondo_image_convert_end},
       {rondo_image_elements, rondo_image_elements_end},
       {rondo_image_images, rondo_image_images_end},
       {rondo_image_rows, rondo_image_rows_end}}};
  return all;
}

}  // namespace rondo::cuda
