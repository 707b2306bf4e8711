#include "device/runtime.hpp"

namespace rondo::device {

Runtime& cuda_runtime() {
  throw Error(ErrorCode::cuda,
              "this Rondo was built without CUDA; configure it where nvcc is found, with "
              "RONDO_CUDA=ON");
}

}  // namespace rondo::device
