#include <rondo/train/labelled_data.hpp>

#include <algorithm>
#include <bit>

#include <fmt/core.h>

#include <rondo/error.hpp>
#include <rondo/train/idx.hpp>

#include "core/digest.hpp"
#include "train/same_data.hpp"

namespace rondo::train {

std::size_t LabelledData::width() const {
  std::size_t product = 1;
  for (const std::size_t extent : shape) product *= extent;
  return product;
}

std::size_t LabelledData::classes() const {
  return labels.empty() ? 0 : std::size_t{*std::ranges::max_element(labels)} + 1;
}

std::uint64_t LabelledData::fingerprint() const {
  core::Digest hash;
  for (const std::size_t extent : shape) hash.add(std::uint64_t{extent});
  hash.add(std::bit_cast<std::uint64_t>(scale));
  hash.add({reinterpret_cast<const char*>(features.data()), features.size()});
  hash.add({reinterpret_cast<const char*>(labels.data()), labels.size()});
  return hash.value();
}

LabelledData read_labelled_idx(const std::string& samples_path, const std::string& labels_path) {
  IdxArray samples = read_idx(samples_path);
  IdxArray labels = read_idx(labels_path);
  if (labels.shape.size() != 1 || labels.shape[0] != samples.shape[0] || labels.elements.empty())
    throw Error(
        ErrorCode::corrupt_file,
        fmt::format("'{}' has {} samples, but '{}' has {} labels in {} dimensions; there must "
                    "be one for each sample, in one dimension",
                    samples_path, samples.shape[0], labels_path, labels.shape[0],
                    labels.shape.size()));
  LabelledData data{{samples.shape.begin() + 1, samples.shape.end()},
                    std::move(samples.elements),
                    std::move(labels.elements),
                    1.0};
  if (data.width() == 0)
    throw Error(ErrorCode::corrupt_file,
                fmt::format("'{}' has samples without features", samples_path));
  const std::uint8_t largest = *std::ranges::max_element(data.features);
  if (largest > 0) data.scale = 1.0 / largest;
  return data;
}

void check_same_data(Communicator& communicator, const LabelledData& data) {
  check_same_fingerprint(communicator, data.fingerprint());
}

}  // namespace rondo::train
