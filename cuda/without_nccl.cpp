#include <rondo/error.hpp>

#include "groups.hpp"

namespace rondo::cuda {

device::GroupMaker& nccl_groups(Runtime&) {
  throw Error(ErrorCode::nccl,
              "this Rondo was built without NCCL; configure it where nccl.h is found, with "
              "RONDO_NCCL=ON");
}

}  // namespace rondo::cuda
