#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "train/manifest.hpp"
#include "train/safetensors.hpp"

namespace rondo::train {

/// The checkpoints in one folder, as Checkpointer's comment lays them out. Numbers are given in the
/// order of the saves, so that the highest is the newest, whatever step it is of.
///
/// Every call throws Error(system), naming the file, when the system refuses.
class CheckpointFolder {
 public:
  explicit CheckpointFolder(std::string path) : path_(std::move(path)) {}

  /// Makes the folder, and throws if no file can be written in it.
  void prepare() const;

  /// Saves the next checkpoint; `manifest.arrays` is filled in here. Then removes all but the
  /// newest `keep`. When it fails, the older ones are all there.
  void save(Manifest manifest, std::span<const ArrayView> arrays, std::size_t keep) const;

  /// The numbers of all checkpoints, the newest first. They may be damaged.
  std::vector<std::uint64_t> numbers() const;

  /// Where a checkpoint's manifest lies.
  std::string manifest_path(std::uint64_t number) const;

  struct Checkpoint {
    Manifest manifest;
    SafetensorsFile arrays;
  };
  /// Reads checkpoint `number`. Throws Error(corrupt_file) when it is damaged, or incomplete.
  Checkpoint load(std::uint64_t number) const;

 private:
  struct Entry;

  std::string file(const std::string& name) const;
  std::vector<Entry> entries() const;
  void write(std::uint64_t number, Manifest& manifest, std::span<const ArrayView> arrays) const;
  void remove_leftovers() const;
  void remove(std::uint64_t number) const;

  std::string path_;
};

}  // namespace rondo::train
