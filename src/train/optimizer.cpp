#include <rondo/train/optimizer.hpp>

namespace rondo::train {

template <class T>
Optimizer<T>::Optimizer(std::vector<Parameter<T>*> parameters)
    : parameters_(std::move(parameters)) {}

template <class T>
std::size_t Optimizer<T>::add_slot(std::string name) {
  Slot slot{std::move(name), {}};
  for (const Parameter<T>* parameter : parameters_)
    slot.arrays.emplace_back(parameter->value().shape());
  slots_.push_back(std::move(slot));
  return slots_.size() - 1;
}

template <class T>
void Optimizer<T>::step(double learning_rate) {
  ++steps_;
  Arrays arrays{};
  arrays.slots.resize(slots_.size());
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    arrays.value = parameters_[i]->value().data();
    arrays.gradient = parameters_[i]->gradient().data();
    arrays.count = parameters_[i]->size();
    for (std::size_t s = 0; s < slots_.size(); ++s) arrays.slots[s] = slots_[s].arrays[i].data();
    update(arrays, learning_rate);
  }
}

template <class T>
std::vector<ArrayView> Optimizer<T>::state() {
  std::vector<ArrayView> views{{"optimizer.step", DataType::int64, {}, &steps_}};
  for (Slot& slot : slots_)
    for (std::size_t i = 0; i < parameters_.size(); ++i)
      views.push_back(slot.arrays[i].view("optimizer." + slot.name + "." + parameters_[i]->name()));
  return views;
}

template class Optimizer<float>;
template class Optimizer<double>;

}  // namespace rondo::train
