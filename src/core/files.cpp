#include "core/files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <system_error>
#include <utility>

#include "core/check.hpp"

namespace rondo::core {

std::string read_file(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) throw_system("read", path, EISDIR);
  std::ifstream file(path, std::ios::binary);
  if (!file) throw_system("read", path, errno);
  std::ostringstream contents;
  if (file.peek() != std::ifstream::traits_type::eof()) contents << file.rdbuf();
  if (file.bad() || !contents) throw_system("read", path, errno);
  return std::move(contents).str();
}

std::vector<std::string> files_in(const std::string& folder) {
  const auto close = [](DIR* stream) { ::closedir(stream); };
  const std::unique_ptr<DIR, decltype(close)> stream(::opendir(folder.c_str()), close);
  if (!stream) throw_system("read the folder", folder, errno);
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* const entry = ::readdir(stream.get());
    if (entry == nullptr && errno != 0) throw_system("read the folder", folder, errno);
    if (entry == nullptr) return names;
    names.emplace_back(entry->d_name);
  }
}

void remove_file(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) throw_system("remove", path, errno);
}

void make_folder(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) {
    if (!S_ISDIR(status.st_mode)) throw_system("make the folder", path, ENOTDIR);
    return;
  }
  const std::string parent = std::filesystem::path(path).parent_path().string();
  if (!parent.empty() && parent != path) make_folder(parent);
  if (::mkdir(path.c_str(), 0777) != 0 && errno != EEXIST)
    throw_system("make the folder", path, errno);
  sync_directory_of(path);
}

void sync_directory_of(const std::string& path) {
  const std::string directory = std::filesystem::path(path).parent_path().string();
  const int descriptor =
      ::open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) throw_system("sync the directory of the new", path, errno);
  int error = ::fsync(descriptor) == 0 || errno == EINVAL ? 0 : errno;
  if (::close(descriptor) != 0 && error == 0) error = errno;
  if (error != 0) throw_system("sync the directory of the new", path, error);
}

}  // namespace rondo::core
