#include "transport/shm_segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <random>
#include <unordered_map>

#include <fmt/core.h>

#include "core/check.hpp"
#include "core/narrow.hpp"
#include "transport/memory_room.hpp"
#include "transport/shm_names.hpp"

namespace rondo::transport {

namespace {

/// What lies at the beginning of the file.
struct Header {
  std::uint64_t serial;
  std::uint64_t committed;  // bytes of the file
};
constexpr std::size_t kHeaderBytes = 4096;

std::atomic<bool> named = false;
std::atomic<std::size_t> byte_limit = std::numeric_limits<std::size_t>::max();

/// Unlike that of any other process, as far as chance goes, and different on each call.
std::uint64_t next_serial() {
  static std::atomic<std::uint64_t> next = [] {
    std::random_device device;
    return (std::uint64_t{device()} << 32) | device();
  }();
  return next++;
}

/// The segments that this process has created and not dropped.
class OwnSegments {
 public:
  static OwnSegments& instance() {
    static auto& segments = *new OwnSegments;  // outlives whatever static still holds a segment
    return segments;
  }
  void add(const std::shared_ptr<SharedSegment>& segment) {
    const std::lock_guard lock(mutex_);
    segments_[segment->name().serial] = segment;
  }
  void remove(std::uint64_t serial) {
    const std::lock_guard lock(mutex_);
    segments_.erase(serial);
  }
  /// Of those that have one.
  void forget_names() {
    const std::lock_guard lock(mutex_);
    for (const auto& [serial, segment] : segments_) remove_named_file({getpid(), -1, serial});
  }
  std::shared_ptr<SharedSegment> find(std::uint64_t serial) {
    const std::lock_guard lock(mutex_);
    const auto found = segments_.find(serial);
    return found == segments_.end() ? nullptr : found->second.lock();
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::weak_ptr<SharedSegment>> segments_;
};

/// Throws Error(system) where so much memory would bring the kernel to kill a process.
void check_room(std::size_t bytes, const std::string& what) {
  // Smaller pieces are taken as any other memory is, without a look at half a dozen files.
  constexpr std::size_t kWorthALook = std::size_t{16} * 1024 * 1024;
  if (bytes > byte_limit || (bytes >= kWorthALook && bytes > memory_room()))
    core::throw_system("reserve", what, ENOSPC);
}

/// Commits the file's memory from `begin` to `end`.
void commit(int file, std::size_t begin, std::size_t end, const std::string& what) {
  // The kernel gives back the whole of a step that a signal interrupts; small ones get through.
  constexpr std::size_t kStep = std::size_t{1024} * 1024;
  for (std::size_t done = begin; done < end;) {
    const std::size_t step = std::min(kStep, end - done);
    const int error = posix_fallocate(file, core::narrow<off_t>(done), core::narrow<off_t>(step));
    if (error == EINTR) continue;
    if (error != 0) core::throw_system("reserve", what, error);
    done += step;
  }
}

int open_file(const SegmentName& name, const std::string& path) {
  if (name.file < 0) return open_named_file(name);
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0 && (errno == EACCES || errno == EPERM))
    throw DescriptorsRefused(ErrorCode::system, fmt::format("cannot open '{}': refused", path));
  return core::check_system(file, "open", path);
}

/// As messages call it.
std::string path_of(const SegmentName& name) {
  if (name.file < 0) return named_file(name);
  return fmt::format("/proc/{}/fd/{}", name.process, name.file);
}

}  // namespace

void name_segments() {
  // Memory that is never given back, as the heap's, is no reason to leave a file.
  if (!named.exchange(true)) std::atexit([] { OwnSegments::instance().forget_names(); });
}
bool segments_have_names() { return named; }
void limit_segments(std::size_t bytes) { byte_limit = bytes; }

std::shared_ptr<SharedSegment> SharedSegment::create(std::size_t bytes, std::size_t later) {
  const std::string what = fmt::format("{} bytes of shared memory", bytes);
  check_room(bytes, what);
  const std::size_t committed = kHeaderBytes + bytes;
  std::shared_ptr<SharedSegment> segment(new SharedSegment);
  SegmentName name{getpid(), -1, next_serial()};
  if (segments_have_names())
    segment->file_ = create_named_file(name);
  else
    name.file = segment->file_ =
        core::check_system(memfd_create("rondo", MFD_CLOEXEC), "create", what);
  segment->name_ = name;
  commit(segment->file_, 0, committed, what);
  if (later > 0)
    core::check_system(ftruncate(segment->file_, core::narrow<off_t>(committed + later)), "make",
                       what);
  segment->map(committed + later);
  segment->populate(committed);
  segment->later_ = later;
  *static_cast<Header*>(segment->mapping_) = {name.serial, committed};
  OwnSegments::instance().add(segment);
  return segment;
}

std::shared_ptr<SharedSegment> SharedSegment::open(const SegmentName& name) {
  if (name.process == getpid()) {
    if (auto own = OwnSegments::instance().find(name.serial)) return own;
    throw Error(ErrorCode::system, "a shared segment is gone: its owner freed it while in use");
  }
  const std::string path = path_of(name);
  std::shared_ptr<SharedSegment> segment(new SharedSegment);
  segment->file_ = open_file(name, path);
  struct stat status {};
  core::check_system(fstat(segment->file_, &status), "look at", path);
  segment->map(core::narrow<std::size_t>(status.st_size));
  segment->name_ = name;
  const Header header = *static_cast<const Header*>(segment->mapping_);
  if (header.serial != name.serial)
    throw Error(ErrorCode::system,
                fmt::format("'{}' is another file than expected: its owner freed the segment while "
                            "in use",
                            path));
  segment->populate(header.committed);
  close(segment->file_);  // the mapping is enough
  segment->file_ = -1;
  return segment;
}

void SharedSegment::map(std::size_t file_bytes) {
  void* mapping = mmap(nullptr, file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (mapping == MAP_FAILED)
    core::throw_system("map", fmt::format("{} bytes of shared memory", file_bytes), errno);
  mapping_ = mapping;
  bytes_ = file_bytes - kHeaderBytes;
}

/// Maps the beginning of the file again, where it is, so that no access must wait for its page.
/// Beyond what is committed this would commit it.
void SharedSegment::populate(std::size_t file_bytes) {
  if (mmap(mapping_, file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE | MAP_FIXED,
           file_, 0) == MAP_FAILED)
    core::throw_system("map", fmt::format("{} bytes of shared memory", file_bytes), errno);
}

void SharedSegment::commit_later() {
  const std::string what = fmt::format("{} bytes of shared memory", later_);
  check_room(later_, what);
  const std::size_t end = kHeaderBytes + bytes_;
  commit(file_, end - later_, end, what);
  later_ = 0;
}

SharedSegment::~SharedSegment() {
  if (name_.process == getpid()) {
    OwnSegments::instance().remove(name_.serial);
    forget_name();
  }
  if (mapping_ != nullptr) munmap(mapping_, bytes_ + kHeaderBytes);
  if (file_ >= 0) close(file_);
}

std::byte* SharedSegment::data() const { return static_cast<std::byte*>(mapping_) + kHeaderBytes; }

void SharedSegment::forget_name() noexcept {
  if (name_.process != 0 && name_.file < 0) remove_named_file(name_);
}

void SharedSegment::discard() noexcept {
  if (file_ < 0) return;
  forget_name();
  // A hole rather than a shorter file, which would kill a peer that is late after a failure.
  [[maybe_unused]] const int ignored = fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                                 0, static_cast<off_t>(bytes_ + kHeaderBytes));
  close(file_);
  file_ = -1;
}

}  // namespace rondo::transport
