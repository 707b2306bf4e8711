#pragma once

#include <string>

#include "transport/shm_segment.hpp"

namespace rondo::transport {

/// Files in /dev/shm, for where processes may not open each other's descriptors. Their owner has
/// them locked while it lives, so that others can tell what a killed process left behind.

/// "/dev/shm/rondo-<process>-<serial>".
std::string named_file(const SegmentName& segment);

/// A new, empty file, and its descriptor. What killed processes of this user left there goes, once
/// a process. Throws Error(system).
int create_named_file(const SegmentName& segment);

/// A descriptor of the file that another process has created. Throws Error(system).
int open_named_file(const SegmentName& segment);

/// By its owner. The memory stays with those who have opened the file.
void remove_named_file(const SegmentName& segment) noexcept;

/// Removes the files whose owners are dead.
void sweep_named_files() noexcept;

}  // namespace rondo::transport
