#include <rondo/train/optimizer.hpp>

#include <algorithm>
#include <cmath>

#include "train/optimizer_checks.hpp"

namespace rondo::train {

namespace {

void check(const RmspropOptions& options) {
  check_fraction("rmsprop", "alpha", options.alpha);
  check_not_negative("rmsprop", "epsilon", options.epsilon);
  check_not_negative("rmsprop", "weight decay", options.weight_decay);
  check_not_negative("rmsprop", "momentum", options.momentum);
}

template <class T>
class Rmsprop final : public Optimizer<T> {
 public:
  Rmsprop(std::vector<Parameter<T>*> parameters, const RmspropOptions& options)
      : Optimizer<T>(std::move(parameters)), options_(options) {
    check(options);
    this->add_slot("square");
    if (options.centered) mean_ = this->add_slot("mean");
    if (options.momentum != 0.0) momentum_ = this->add_slot("momentum");
  }

 private:
  using typename Optimizer<T>::Arrays;

  void update(const Arrays& arrays, double learning_rate) override {
    const T rate = static_cast<T>(learning_rate);
    if (options_.momentum == 0.0) {
      for_each_direction(arrays,
                         [&](std::size_t i, T direction) { arrays.value[i] -= rate * direction; });
      return;
    }
    T* velocity = arrays.slots[momentum_];
    const T momentum = static_cast<T>(options_.momentum);
    for_each_direction(arrays, [&](std::size_t i, T direction) {
      velocity[i] = momentum * velocity[i] + direction;
      arrays.value[i] -= rate * velocity[i];
    });
  }

  /// Calls descend(i, g/d) for every element, having updated what d is made of.
  template <class Descend>
  void for_each_direction(const Arrays& arrays, const Descend& descend) const {
    T* square = arrays.slots[0];
    T* mean = options_.centered ? arrays.slots[mean_] : nullptr;
    const T decay = static_cast<T>(options_.weight_decay);
    const T alpha = static_cast<T>(options_.alpha);
    const T rest = static_cast<T>(1.0 - options_.alpha);
    const T epsilon = static_cast<T>(options_.epsilon);
    for (std::size_t i = 0; i < arrays.count; ++i) {
      const T g = arrays.gradient[i] + decay * arrays.value[i];
      square[i] = alpha * square[i] + rest * g * g;
      T variance = square[i];
      if (mean != nullptr) {
        mean[i] = alpha * mean[i] + rest * g;
        variance = std::max(variance - mean[i] * mean[i], T{0});  // below 0 only by rounding
      }
      descend(i, g / (std::sqrt(variance) + epsilon));
    }
  }

  RmspropOptions options_;
  std::size_t mean_ = 0;
  std::size_t momentum_ = 0;
};

}  // namespace

template <class T>
std::unique_ptr<Optimizer<T>> rmsprop(std::vector<Parameter<T>*> parameters,
                                      const RmspropOptions& options) {
  return std::make_unique<Rmsprop<T>>(std::move(parameters), options);
}

template std::unique_ptr<Optimizer<float>> rmsprop(std::vector<Parameter<float>*>,
                                                   const RmspropOptions&);
template std::unique_ptr<Optimizer<double>> rmsprop(std::vector<Parameter<double>*>,
                                                    const RmspropOptions&);

}  // namespace rondo::train
