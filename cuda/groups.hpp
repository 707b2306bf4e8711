#pragma once

#include "device/group.hpp"

namespace rondo::cuda {

class Runtime;

/// NCCL's communicators on the runtime's devices. Loads NCCL at the first call; throws Error(nccl)
/// saying what is missing where Rondo was built without it, or it isn't installed.
device::GroupMaker& nccl_groups(Runtime& runtime);

}  // namespace rondo::cuda
