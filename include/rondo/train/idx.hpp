#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace rondo::train {

/// An array of bytes of any number of dimensions, row-major.
struct IdxArray {
  std::vector<std::size_t> shape;
  std::vector<std::uint8_t> elements;
};

/// Reads an IDX file of unsigned bytes, the format of MNIST (LeCun, Cortes & Burges, 1998), plain
/// or gzip: two zero bytes, the element type (8: unsigned byte), the number of dimensions, each
/// dimension as four bytes, largest first, and the elements.
///
/// Throws Error(system) when the file cannot be read, and Error(corrupt_file), naming the file and
/// what was expected, when it is no such file, is cut short or goes on behind its last element.
IdxArray read_idx(const std::string& path);

}  // namespace rondo::train
