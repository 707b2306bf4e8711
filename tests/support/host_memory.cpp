#include "support/host_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <fmt/core.h>

#include "core/check.hpp"

namespace rondo::testing {

using device::Location;
using device::MemoryKind;

namespace {

std::byte* map(int file, std::size_t bytes, int access) {
  void* address = mmap(nullptr, bytes, access, MAP_SHARED, file, 0);
  if (address == MAP_FAILED) core::throw_system("map", "memory of a host device", errno);
  return static_cast<std::byte*>(address);
}

}  // namespace

struct HostMemory::Block {
  Location where;
  std::size_t bytes;
  std::uint64_t number;       // of the allocation
  bool is_mapping = false;    // of an allocation, for somebody else
  bool is_private = false;    // can't be shared
  int file = -1;              // that is mapped
  std::byte* user = nullptr;  // what users get
  std::byte* open = nullptr;  // where device work reaches it

  Block(Location where, std::size_t bytes, std::uint64_t number)
      : where(where), bytes(bytes), number(number) {
    file = core::check_system(memfd_create("rondo host device", 0), "create", "memory");
    core::check_system(ftruncate(file, static_cast<off_t>(bytes)), "enlarge", "memory");
    map_twice();
  }
  /// Maps the allocation once more.
  explicit Block(const Block& of)
      : where(of.where), bytes(of.bytes), number(of.number), is_mapping(true) {
    file = core::check_system(dup(of.file), "duplicate", "memory");
    map_twice();
  }
  Block& operator=(const Block&) = delete;
  ~Block() {
    if (user != open) munmap(user, bytes);
    munmap(open, bytes);
    close(file);
  }

 private:
  void map_twice() {
    open = map(file, bytes, PROT_READ | PROT_WRITE);
    user = where.kind == MemoryKind::device ? map(file, bytes, PROT_NONE) : open;
  }
};

HostMemory::HostMemory() = default;
HostMemory::~HostMemory() = default;

HostMemory::Block* HostMemory::find(const void* address) {
  const auto* const byte = static_cast<const std::byte*>(address);
  auto after = blocks_.upper_bound(byte);
  if (after == blocks_.begin()) return nullptr;
  Block& block = *std::prev(after)->second;
  return byte < block.user + block.bytes ? &block : nullptr;
}

/// With mutex_ held.
void* HostMemory::add(std::unique_ptr<Block> block) {
  std::byte* const user = block->user;
  blocks_.emplace(user, std::move(block));
  return user;
}

void* HostMemory::allocate(Location where, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  return add(std::make_unique<Block>(where, bytes, ++allocated_));
}

void HostMemory::free(void* memory) {
  const std::lock_guard lock(mutex_);
  blocks_.erase(static_cast<std::byte*>(memory));
}

Location HostMemory::locate(const void* address) {
  const std::lock_guard lock(mutex_);
  const Block* const block = find(address);
  return block == nullptr ? Location{} : block->where;
}

std::optional<device::SharedAddress> HostMemory::share(const void* address) {
  const std::lock_guard lock(mutex_);
  const Block* const block = find(address);
  if (block == nullptr || block->where.kind != MemoryKind::device || block->is_private ||
      block->is_mapping)
    return std::nullopt;
  device::SharedAddress shared;
  shared.allocation.number = block->number;
  shared.allocation.address = reinterpret_cast<std::uintptr_t>(block->user);
  shared.offset = static_cast<const std::byte*>(address) - block->user;
  return shared;
}

std::uint64_t HostMemory::number_at(const void* address) {
  const std::lock_guard lock(mutex_);
  const Block* const block = find(address);
  return block == nullptr ? 0 : block->number;
}

void* HostMemory::open_again(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  for (const auto& [begin, block] : blocks_)
    if (block->number == number && !block->is_mapping) return add(std::make_unique<Block>(*block));
  throw Error(ErrorCode::cuda, fmt::format("allocation {} was freed", number));
}

void HostMemory::keep_private(const void* address) {
  const std::lock_guard lock(mutex_);
  find(address)->is_private = true;
}

std::size_t HostMemory::allocations() {
  const std::lock_guard lock(mutex_);
  return blocks_.size();
}

std::byte* HostMemory::open(const void* address, std::size_t bytes, bool on_device_only) {
  const std::lock_guard lock(mutex_);
  Block* const block = find(address);
  if (block == nullptr) {
    if (on_device_only)
      throw Error(ErrorCode::cuda, fmt::format("illegal address {} in a kernel", address));
    return static_cast<std::byte*>(const_cast<void*>(address));
  }
  const std::size_t offset = static_cast<const std::byte*>(address) - block->user;
  if (bytes > block->bytes - offset)
    throw Error(ErrorCode::cuda,
                fmt::format("illegal address: {} bytes from byte {} of {} bytes of {} memory",
                            bytes, offset, block->bytes, name_of(block->where.kind)));
  return block->open + offset;
}

}  // namespace rondo::testing
