#pragma once

#include <span>
#include <vector>

#include <rondo/train/parameter.hpp>
#include <rondo/train/tensor.hpp>

namespace rondo::train {

/// Writes each element rounded to bfloat16, to nearest and of two as near to the even one; a double
/// is rounded to float first. NaN stays NaN. The arrays are of one size, may be the same, and
/// lie in `place`.
template <class T>
void round_to_bfloat16(std::span<const T> from, std::span<T> to, Compute& place = Compute::host());

/// Parameters whose values are bfloat16's while gradients are computed, and full when they are
/// updated, saved or tested with: master weights (Micikevicius et al., 2018). All of them: also
/// biases, embeddings, and scales and shifts of layer norms; PyTorch's autocast rounds neither of
/// the last two.
///
///   weights.round();                      // before the forward pass, with Precision::bfloat16
///   …forward(…); …backward(…);            // of all micro-batches
///   weights.restore();                    // before the optimizer's step
///
/// The parameters must outlive this object, and not move. Not collective; not thread-safe.
template <class T>
class MasterWeights {
 public:
  explicit MasterWeights(std::vector<Parameter<T>*> parameters);

  /// Keeps the values and rounds them. Nothing happens when they are rounded already.
  void round();
  /// Puts back what round() kept; nothing happens without it.
  void restore();

 private:
  std::vector<Parameter<T>*> parameters_;
  std::vector<Tensor<T>> kept_;
  bool rounded_ = false;
};

extern template void round_to_bfloat16(std::span<const float>, std::span<float>, Compute&);
extern template void round_to_bfloat16(std::span<const double>, std::span<double>, Compute&);
extern template class MasterWeights<float>;
extern template class MasterWeights<double>;

}  // namespace rondo::train
