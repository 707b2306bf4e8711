#include <rondo/train/optimizer.hpp>

#include "train/optimizer_checks.hpp"

namespace rondo::train {

namespace {

void check(const SgdOptions& options) {
  check_not_negative("sgd", "momentum", options.momentum);
  check_not_negative("sgd", "weight decay", options.weight_decay);
  if (options.nesterov && options.momentum == 0.0)
    throw Error(ErrorCode::usage, "sgd: nesterov needs a momentum above 0");
}

template <class T>
class Sgd final : public Optimizer<T> {
 public:
  Sgd(std::vector<Parameter<T>*> parameters, const SgdOptions& options)
      : Optimizer<T>(std::move(parameters)), options_(options) {
    check(options);
    if (options.momentum != 0.0) this->add_slot("momentum");
  }

 private:
  using typename Optimizer<T>::Arrays;

  void update(const Arrays& arrays, double learning_rate) override {
    if (options_.momentum == 0.0)
      descend(arrays, static_cast<T>(learning_rate));
    else
      descend_with_momentum(arrays, static_cast<T>(learning_rate));
  }

  void descend(const Arrays& arrays, T rate) const {
    T* __restrict value = arrays.value;
    const T* __restrict gradient = arrays.gradient;
    const T decay = static_cast<T>(options_.weight_decay);
    for (std::size_t i = 0; i < arrays.count; ++i)
      value[i] -= rate * (gradient[i] + decay * value[i]);
  }

  void descend_with_momentum(const Arrays& arrays, T rate) const {
    T* __restrict value = arrays.value;
    T* __restrict velocity = arrays.slots[0];
    const T* __restrict gradient = arrays.gradient;
    const T decay = static_cast<T>(options_.weight_decay);
    const T momentum = static_cast<T>(options_.momentum);
    for (std::size_t i = 0; i < arrays.count; ++i) {
      const T g = gradient[i] + decay * value[i];
      velocity[i] = momentum * velocity[i] + g;
      value[i] -= rate * (options_.nesterov ? g + momentum * velocity[i] : velocity[i]);
    }
  }

  SgdOptions options_;
};

}  // namespace

template <class T>
std::unique_ptr<Optimizer<T>> sgd(std::vector<Parameter<T>*> parameters,
                                  const SgdOptions& options) {
  return std::make_unique<Sgd<T>>(std::move(parameters), options);
}

template std::unique_ptr<Optimizer<float>> sgd(std::vector<Parameter<float>*>, const SgdOptions&);
template std::unique_ptr<Optimizer<double>> sgd(std::vector<Parameter<double>*>, const SgdOptions&);

}  // namespace rondo::train
