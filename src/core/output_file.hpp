#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace rondo::core {

/// A file being written. Every failure, a full disk, a file-size limit and a closed pipe included
/// (their signals are held back), is an Error(system) that names the file.
class OutputFile {
 public:
  enum class Mode { replace, append };

  OutputFile(std::string path, Mode mode);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  /// Closes without a check; call close() to know.
  ~OutputFile();

  void write(std::string_view bytes);
  /// Returns when the disk has everything. What cannot be synced, such as a pipe, is left alone.
  void sync();
  void close();

 private:
  [[noreturn]] void fail(std::string_view action, int error) const;

  std::string path_;
  int descriptor_ = -1;
};

/// Replaces the file at `path` as a whole: whoever opens it, even after a crash, finds either the
/// old contents or the new. The pieces are written to `path`.tmp, synced and renamed. Throws
/// Error(system) naming the file; the old one is then still there, unless the message says that
/// only the last step, syncing the directory, failed.
void replace_file(const std::string& path, std::span<const std::string_view> pieces);

/// Throws Error(system) as replace_file() would, before there is anything to write: what the file
/// holds stays.
void check_replaceable(const std::string& path);

}  // namespace rondo::core
