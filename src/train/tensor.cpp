#include <rondo/train/tensor.hpp>
