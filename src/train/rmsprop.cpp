#include <rondo/train/optimizer.hpp>

#include "train/each.hpp"
#include "train/functions/optimizers.hpp"
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
    const RmspropUpdate<T> step{.rate = static_cast<T>(learning_rate),
                                .decay = static_cast<T>(options_.weight_decay),
                                .alpha = static_cast<T>(options_.alpha),
                                .rest = static_cast<T>(1.0 - options_.alpha),
                                .epsilon = static_cast<T>(options_.epsilon),
                                .momentum = static_cast<T>(options_.momentum)};
    const auto& [place, value, gradient, slots] = arrays;
    each(place, step, value.size(), value, gradient, slots[0],
         options_.centered ? slots[mean_] : std::span<T>(),
         options_.momentum != 0.0 ? slots[momentum_] : std::span<T>());
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
