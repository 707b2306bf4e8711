#pragma once

#include <cstddef>
#include <filesystem>

namespace rondo::transport {

/// Bytes that can still be committed before the kernel kills a process for want of memory: what the
/// machine has available, or less where this process's control groups allow less. Files of shared
/// memory have no limit of their own. It reads some small files in /proc and /sys.
std::size_t memory_room();

/// The same of the control group at `folder`, below `top`, and those that it belongs to; of either
/// version. Unlimited where there is none.
std::size_t control_group_room(const std::filesystem::path& top, std::filesystem::path folder);

}  // namespace rondo::transport
