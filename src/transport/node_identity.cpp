#include "transport/node_identity.hpp"

#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace rondo::transport {

namespace {

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string text;
  std::getline(file, text);
  return text;
}

std::string pid_namespace() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/ns/pid", ignored).string();
}

/// FNV-1a, 64 bits.
std::uint64_t hash(const std::string& text) {
  std::uint64_t value = 14'695'981'039'346'656'037u;
  for (const unsigned char c : text) value = (value ^ c) * 1'099'511'628'211u;
  return value;
}

}  // namespace

std::uint64_t node_identity() {
  return hash(boot_id() + '\n' + host_name() + '\n' + pid_namespace());
}

}  // namespace rondo::transport
