#include <rondo/train/optimizer.hpp>

#include "train/each.hpp"
#include "train/functions/optimizers.hpp"
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
    const auto& [place, value, gradient, slots] = arrays;
    const T rate = static_cast<T>(learning_rate);
    const T decay = static_cast<T>(options_.weight_decay);
    if (options_.momentum == 0.0) {
      each(place, SgdUpdate<T>{rate, decay}, value.size(), value, gradient);
    } else {
      const MomentumUpdate<T> step{rate, decay, static_cast<T>(options_.momentum),
                                   options_.nesterov};
      each(place, step, value.size(), value, gradient, slots[0]);
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
