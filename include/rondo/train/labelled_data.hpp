#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace rondo {
class Communicator;
}

namespace rondo::train {

/// Samples of bytes, such as images, with a class each. A byte an element: 60,000 images of 28 × 28
/// pixels take 47 MB.
struct LabelledData {
  std::vector<std::size_t> shape;      ///< of a sample: images, height × width
  std::vector<std::uint8_t> features;  ///< row-major, samples() × width()
  std::vector<std::uint8_t> labels;    ///< one a sample: its class, from 0 on
  double scale = 1.0;                  ///< what a byte is multiplied by to become a feature

  std::size_t samples() const { return labels.size(); }
  /// Features of a sample.
  std::size_t width() const;
  /// One more than the largest label; 0 without samples.
  std::size_t classes() const;
  std::span<const std::uint8_t> row(std::size_t sample) const {
    return std::span(features).subspan(sample * width(), width());
  }

  /// A number that two data sets share only if they are the same, bit for bit (FNV-1a, 64 bits).
  std::uint64_t fingerprint() const;
};

/// Reads two IDX files, plain or gzip. Features are scaled to [0, 1], by the largest there is.
/// Throws as read_idx() does, and Error(corrupt_file), naming both files, when there are not as
/// many labels as samples, or none, or when labels have more than one dimension.
LabelledData read_labelled_idx(const std::string& samples_path, const std::string& labels_path);

/// As for Dataset. Collective.
void check_same_data(Communicator& communicator, const LabelledData& data);

}  // namespace rondo::train
