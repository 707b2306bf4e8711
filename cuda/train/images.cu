// The functions of src/train/functions that work on images, and on what dropout leaves of them.
#include "../kernels/each.cuh"
#include "train/functions/dropout.hpp"
#include "train/functions/images.hpp"

using namespace rondo::train;

RONDO_EACH_OF(fill_plane, FillPlane)
RONDO_EACH_OF(sum_plane, SumPlane)
RONDO_EACH_OF(unfold, Unfold)
RONDO_EACH_OF(fold_plane, FoldPlane)
RONDO_EACH_OF(max_pool, MaxPool)
RONDO_EACH_OF(max_pool_gradient, MaxPoolGradient)
RONDO_EACH_OF(dropout_mask, DropoutMask)
