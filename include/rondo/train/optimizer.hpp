#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <rondo/train/parameter.hpp>

namespace rondo::train {

/// Turns gradients into changes of parameters. T is float or double: scalars such as bias
/// corrections are computed in double and rounded once to T, elements are computed in T, as PyTorch
/// does.
///
/// Every parameter is updated in every step; one without a gradient must hold zeros. Not
/// collective: equal gradients on all ranks keep equal parameters. Not thread-safe.
template <class T>
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// Updates every parameter from its gradient. `learning_rate` is this step's, from a Schedule.
  void step(double learning_rate);

  /// Steps taken so far.
  std::int64_t steps() const { return steps_; }

  /// Everything that the next step depends on beside the parameters: "optimizer.step" (an int64
  /// scalar) and "optimizer.SLOT.PARAMETER" for each array. Restoring is writing into these views.
  /// Of a sharded optimizer the step alone.
  std::vector<ArrayView> state();

  /// From now on this optimizer updates these elements of its parameters only, one slice for each,
  /// and has state for no others; other ranks have the rest. This is ZeRO's first stage
  /// (Rajbhandari et al., 2020); GradientReducer::slice() deals the elements out. Throws
  /// Error(usage) for slices that don't fit the parameters, or once there is state.
  void shard(std::vector<Slice> slices);
  /// The arrays of a sharded optimizer, named as in state().
  std::vector<ArrayShard> sharded_state();

 protected:
  /// The parameters must outlive the optimizer, and not move.
  explicit Optimizer(std::vector<Parameter<T>*> parameters);

  /// Adds one array of zeros for each parameter, made when it is needed first; returns the slot's
  /// number.
  std::size_t add_slot(std::string name);

  /// One parameter's memory in a step, equally much of each, none of which overlap. It lies in
  /// `place`.
  struct Arrays {
    Compute& place;
    std::span<T> value;
    std::span<const T> gradient;
    std::vector<std::span<T>> slots;
  };
  /// Updates one parameter; steps() counts this step already.
  virtual void update(const Arrays& arrays, double learning_rate) = 0;

 private:
  struct Slot {
    std::string name;
    std::vector<Tensor<T>> arrays;  // one for each parameter; empty: not yet needed
  };

  void make_state();
  std::vector<ArrayShard> arrays_of_slots();

  std::vector<Parameter<T>*> parameters_;
  std::vector<Slice> slices_;  // of each parameter
  bool sharded_ = false;
  std::int64_t steps_ = 0;
  std::vector<Slot> slots_;
};

/// Settings of sgd(), with PyTorch's defaults.
struct SgdOptions {
  double momentum = 0.0;
  double weight_decay = 0.0;  ///< L2: added to the gradient, times the value
  bool nesterov = false;      ///< needs momentum
};

/// Stochastic gradient descent as torch.optim.SGD has it, with dampening 0:
///   g ← gradient + weight_decay·value;  m ← momentum·m + g;  value ← value - lr·m
/// with g in place of m without momentum, and g + momentum·m with `nesterov` (Sutskever et al.,
/// 2013). Throws Error(usage) for options out of range, as all of these do.
template <class T>
std::unique_ptr<Optimizer<T>> sgd(std::vector<Parameter<T>*> parameters,
                                  const SgdOptions& options = {});

/// Settings of adam() and adamw(), with PyTorch's defaults but for weight_decay, which is 0 in
/// torch.optim.Adam and 0.01 in torch.optim.AdamW.
struct AdamOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;  ///< added outside the root
  double weight_decay = 0.0;
};
inline constexpr AdamOptions kAdamWDefaults{.weight_decay = 0.01};

/// Adam (Kingma & Ba, 2015) as torch.optim.Adam has it; weight decay is L2 (added to the gradient):
///   m ← beta1·m + (1 - beta1)·g;  v ← beta2·v + (1 - beta2)·g²
///   value ← value - lr/(1 - beta1^t) · m / (√v/√(1 - beta2^t) + epsilon)
template <class T>
std::unique_ptr<Optimizer<T>> adam(std::vector<Parameter<T>*> parameters,
                                   const AdamOptions& options = {});

/// Adam with decoupled weight decay (Loshchilov & Hutter, 2019) as torch.optim.AdamW has it:
/// value ← value·(1 - lr·weight_decay), then a step of Adam on the plain gradient.
template <class T>
std::unique_ptr<Optimizer<T>> adamw(std::vector<Parameter<T>*> parameters,
                                    const AdamOptions& options = kAdamWDefaults);

/// Settings of rmsprop(), with PyTorch's defaults.
struct RmspropOptions {
  double alpha = 0.99;
  double epsilon = 1e-8;      ///< added outside the root
  double weight_decay = 0.0;  ///< L2
  double momentum = 0.0;
  bool centered = false;  ///< divide by the gradient's deviation instead of its root mean square
};

/// RMSprop (Tieleman & Hinton, 2012; centered: Graves, 2013) as torch.optim.RMSprop has it:
///   v ← alpha·v + (1 - alpha)·g²;  d ← √v + epsilon;  value ← value - lr·g/d
/// Centered: a ← alpha·a + (1 - alpha)·g, and d ← √(v - a²) + epsilon. With momentum:
/// m ← momentum·m + g/d;  value ← value - lr·m.
template <class T>
std::unique_ptr<Optimizer<T>> rmsprop(std::vector<Parameter<T>*> parameters,
                                      const RmspropOptions& options = {});

}  // namespace rondo::train
