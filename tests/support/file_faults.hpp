#pragma once

#include <atomic>
#include <functional>
#include <string>

namespace rondo::testing {

/// The file functions of the C library, as every thread of a program that links file_faults.cpp
/// calls them: open, write, fsync, close, rename, mkdir, unlink, opendir. While one of these is
/// alive, calls on files below its folder are counted, and may fail or take long; nothing of these
/// is really synced, which takes long. One at a time.
class FileFaults {
 public:
  /// Watches files whose path begins with `folder`.
  explicit FileFaults(std::string folder);
  ~FileFaults();
  FileFaults(const FileFaults&) = delete;
  FileFaults& operator=(const FileFaults&) = delete;

  /// The n-th call (from 0) shall fail with `error`, or be EINTR's or half a write's, which no
  /// caller may take for a failure. `call` empty: of all functions.
  struct Fault {
    std::string call;
    int n = 0;
    int error = 0;  // 0: write() takes one byte only
  };
  void strike(Fault fault);
  void stop_striking() { countdown_ = -1; }
  /// The call that it was; empty: it has not yet.
  std::string struck() const { return struck_ ? struck_call_ : ""; }
  /// Calls begin with this.
  void before_each(std::function<void()> action) { before_each_ = std::move(action); }

  // For file_faults.cpp.
  bool watches(const std::string& path) const { return path.starts_with(folder_); }
  /// The error of a call; -1: none.
  int enter(const char* call);

 private:
  std::string folder_;
  Fault fault_;
  std::atomic<int> countdown_ = -1;
  std::atomic<bool> struck_ = false;
  std::string struck_call_;
  std::function<void()> before_each_;
};

}  // namespace rondo::testing
