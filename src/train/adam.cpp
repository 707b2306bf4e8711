#include <rondo/train/optimizer.hpp>

#include <cmath>

#include "train/each.hpp"
#include "train/functions/optimizers.hpp"
#include "train/optimizer_checks.hpp"

namespace rondo::train {

namespace {

enum class Decay { l2, decoupled };

void check(const char* name, const AdamOptions& options) {
  check_fraction(name, "beta1", options.beta1);
  check_fraction(name, "beta2", options.beta2);
  check_not_negative(name, "epsilon", options.epsilon);
  check_not_negative(name, "weight decay", options.weight_decay);
}

/// Adam and AdamW: the same but for one line.
template <class T>
class Adam final : public Optimizer<T> {
 public:
  Adam(std::vector<Parameter<T>*> parameters, const AdamOptions& options, Decay decay)
      : Optimizer<T>(std::move(parameters)), options_(options), decay_(decay) {
    check(decay == Decay::l2 ? "adam" : "adamw", options);
    this->add_slot("mean");
    this->add_slot("square");
  }

 private:
  using typename Optimizer<T>::Arrays;

  void update(const Arrays& arrays, double learning_rate) override {
    const double t = static_cast<double>(this->steps());
    const bool l2 = decay_ == Decay::l2;
    const AdamUpdate<T> step{
        .step_size = static_cast<T>(learning_rate / (1.0 - std::pow(options_.beta1, t))),
        .root_correction = static_cast<T>(std::sqrt(1.0 - std::pow(options_.beta2, t))),
        .beta1 = static_cast<T>(options_.beta1),
        .beta2 = static_cast<T>(options_.beta2),
        .rest1 = static_cast<T>(1.0 - options_.beta1),
        .rest2 = static_cast<T>(1.0 - options_.beta2),
        .epsilon = static_cast<T>(options_.epsilon),
        .added = static_cast<T>(l2 ? options_.weight_decay : 0.0),
        .kept = static_cast<T>(l2 ? 1.0 : 1.0 - learning_rate * options_.weight_decay)};
    const auto& [place, value, gradient, slots] = arrays;
    each(place, step, value.size(), value, gradient, slots[0], slots[1]);
  }

  AdamOptions options_;
  Decay decay_;
};

}  // namespace

template <class T>
std::unique_ptr<Optimizer<T>> adam(std::vector<Parameter<T>*> parameters,
                                   const AdamOptions& options) {
  return std::make_unique<Adam<T>>(std::move(parameters), options, Decay::l2);
}

template <class T>
std::unique_ptr<Optimizer<T>> adamw(std::vector<Parameter<T>*> parameters,
                                    const AdamOptions& options) {
  return std::make_unique<Adam<T>>(std::move(parameters), options, Decay::decoupled);
}

template std::unique_ptr<Optimizer<float>> adam(std::vector<Parameter<float>*>, const AdamOptions&);
template std::unique_ptr<Optimizer<double>> adam(std::vector<Parameter<double>*>,
                                                 const AdamOptions&);
template std::unique_ptr<Optimizer<float>> adamw(std::vector<Parameter<float>*>,
                                                 const AdamOptions&);
template std::unique_ptr<Optimizer<double>> adamw(std::vector<Parameter<double>*>,
                                                  const AdamOptions&);

}  // namespace rondo::train
