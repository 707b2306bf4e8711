#include <rondo/train/optimizer.hpp>

#include <utility>

#include <fmt/core.h>

#include <rondo/error.hpp>

namespace rondo::train {

template <class T>
Optimizer<T>::Optimizer(std::vector<Parameter<T>*> parameters)
    : parameters_(std::move(parameters)) {
  for (const Parameter<T>* parameter : parameters_) slices_.push_back({0, parameter->size()});
}

template <class T>
std::size_t Optimizer<T>::add_slot(std::string name) {
  slots_.push_back({std::move(name), {}});
  return slots_.size() - 1;
}

template <class T>
void Optimizer<T>::shard(std::vector<Slice> slices) {
  bool fits = slices.size() == parameters_.size();
  for (std::size_t i = 0; fits && i < slices.size(); ++i)
    fits = slices[i].begin <= parameters_[i]->size() &&
           slices[i].count <= parameters_[i]->size() - slices[i].begin;
  if (!fits)
    throw Error(ErrorCode::usage, "an optimizer is sharded by one slice of each of its parameters");
  for (const Slot& slot : slots_)
    if (!slot.arrays.empty())
      throw Error(ErrorCode::usage, "an optimizer is sharded before its first step and state()");
  slices_ = std::move(slices);
  sharded_ = true;
}

/// Not before it is needed, so that a sharded optimizer never holds the whole.
template <class T>
void Optimizer<T>::make_state() {
  for (Slot& slot : slots_) {
    if (!slot.arrays.empty()) continue;
    for (std::size_t i = 0; i < parameters_.size(); ++i)
      slot.arrays.emplace_back(
          sharded_ ? std::vector{slices_[i].count} : parameters_[i]->value().shape(),
          parameters_[i]->value().place());
  }
}

template <class T>
void Optimizer<T>::step(double learning_rate) {
  make_state();
  ++steps_;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const auto [begin, count] = slices_[i];
    Tensor<T>& value = parameters_[i]->value();
    Arrays arrays{value.place(),
                  value.span().subspan(begin, count),
                  parameters_[i]->gradient().subspan(begin, count),
                  {}};
    for (Slot& slot : slots_) {
      if (&slot.arrays[i].place() != &value.place())
        throw Error(ErrorCode::usage,
                    fmt::format("parameter '{}' was moved after the optimizer's first step",
                                parameters_[i]->name()));
      arrays.slots.push_back(slot.arrays[i].span());
    }
    update(arrays, learning_rate);
  }
}

template <class T>
std::vector<ArrayView> Optimizer<T>::state() {
  make_state();
  std::vector<ArrayView> views{{"optimizer.step", DataType::int64, {}, &steps_}};
  for (const ArrayShard& shard : arrays_of_slots())
    if (!sharded_) views.push_back(shard.array);
  return views;
}

template <class T>
std::vector<ArrayShard> Optimizer<T>::sharded_state() {
  make_state();
  return sharded_ ? arrays_of_slots() : std::vector<ArrayShard>{};
}

template <class T>
std::vector<ArrayShard> Optimizer<T>::arrays_of_slots() {
  std::vector<ArrayShard> shards;
  for (Slot& slot : slots_)
    for (std::size_t i = 0; i < parameters_.size(); ++i)
      shards.push_back({{fmt::format("optimizer.{}.{}", slot.name, parameters_[i]->name()),
                         data_type_of<T>, parameters_[i]->value().shape(), slot.arrays[i].data()},
                        slices_[i]});
  return shards;
}

template class Optimizer<float>;
template class Optimizer<double>;

}  // namespace rondo::train
