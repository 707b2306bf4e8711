// The functions of src/train/functions that work on one element.
#include "../kernels/each.cuh"
#include "train/functions/activations.hpp"
#include "train/functions/fill.hpp"
#include "train/functions/optimizers.hpp"
#include "train/functions/round.hpp"

using namespace rondo::train;

RONDO_EACH(fill_uint8, Fill<std::uint8_t>)
RONDO_EACH(fill_uint32, Fill<std::uint32_t>)
RONDO_EACH_OF(fill, Fill)
RONDO_EACH(fill_uint64, Fill<std::uint64_t>)
RONDO_EACH_OF(copy, Copy)
RONDO_EACH_OF(add, Add)
RONDO_EACH_OF(scale, Scale)
RONDO_EACH_OF(round_to_bfloat16, RoundToBfloat16)

#define RONDO_ACTIVATION(name, Function)                                           \
  RONDO_EACH(name##_value_float32, ActivationValue<float, detail::Function>)       \
  RONDO_EACH(name##_value_float64, ActivationValue<double, detail::Function>)      \
  RONDO_EACH(name##_gradient_float32, ActivationGradient<float, detail::Function>) \
  RONDO_EACH(name##_gradient_float64, ActivationGradient<double, detail::Function>)
RONDO_ACTIVATION(relu, ReluFunction)
RONDO_ACTIVATION(tanh, TanhFunction)
RONDO_ACTIVATION(sigmoid, SigmoidFunction)
RONDO_ACTIVATION(gelu, GeluFunction)

RONDO_EACH_OF(sgd, SgdUpdate)
RONDO_EACH_OF(momentum, MomentumUpdate)
RONDO_EACH_OF(adam, AdamUpdate)
RONDO_EACH_OF(rmsprop, RmspropUpdate)
