#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <rondo/error.hpp>

namespace rondo::transport {

/// Names a segment to the other processes of its node.
struct SegmentName {
  std::int32_t process = 0;  // 0: no segment
  std::int32_t file = -1;    // its descriptor there; -1: it has a name in /dev/shm
  std::uint64_t serial = 0;  // tells it from other segments that had this descriptor before

  bool operator==(const SegmentName&) const = default;
};

/// A process may not open another one's descriptors: one of them has more rights, or the system's
/// policy is so.
class DescriptorsRefused : public Error {
 public:
  using Error::Error;
};

/// Memory that several processes of a node map: a file without a name (memfd), which the others
/// open through /proc/<process>/fd. Nothing is ever in /dev/shm, and the memory goes with the last
/// process that has it mapped, however that one ends.
///
/// Where that is refused, after name_segments(), it is a file in /dev/shm until its owner drops it.
class SharedSegment {
 public:
  /// `bytes` of zeros, page-aligned. They are committed here, so that too little memory is an
  /// Error(system) now and not a SIGBUS, or a process killed, later. It keeps a descriptor open,
  /// through which the others come.
  ///
  /// `later` more bytes lie behind them, which take no memory, and must not be touched by anyone,
  /// until the owner has committed them.
  static std::shared_ptr<SharedSegment> create(std::size_t bytes, std::size_t later = 0);
  /// The segment of that name; in its owner's own process it is the owner's mapping. Throws
  /// Error(system) where it can't be reached, DescriptorsRefused if names would help.
  static std::shared_ptr<SharedSegment> open(const SegmentName& name);

  ~SharedSegment();
  SharedSegment(const SharedSegment&) = delete;
  SharedSegment& operator=(const SharedSegment&) = delete;

  /// The owner only. Throws Error(system) for too little memory.
  void commit_later();

  /// The owner only, once all others have opened it: others can't any more.
  void forget_name() noexcept;

  const SegmentName& name() const { return name_; }
  std::byte* data() const;
  /// Those to be committed later included.
  std::size_t bytes() const { return bytes_; }

  /// Gives the memory and the descriptor back at once, though others may still have it mapped.
  /// What they then write is lost; who has not opened it yet can't.
  void discard() noexcept;

 private:
  SharedSegment() = default;
  void map(std::size_t file_bytes);
  void populate(std::size_t file_bytes);

  SegmentName name_;
  int file_ = -1;
  void* mapping_ = nullptr;
  std::size_t bytes_ = 0;  // behind the header
  std::size_t later_ = 0;  // of them, at the end, not committed
};

/// From now on this process's segments have names, and those that have none count as private.
void name_segments();
bool segments_have_names();

/// Tests only: segments of more bytes can't be created, as on a machine with too little memory.
void limit_segments(std::size_t bytes);

}  // namespace rondo::transport
