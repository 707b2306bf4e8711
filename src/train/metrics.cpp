#include <rondo/train/metrics.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include <rondo/error.hpp>
#include <rondo/train/cross_entropy.hpp>

namespace rondo::train {

namespace {

/// Every rank's numbers, one rank's after another's.
std::vector<double> gather(Communicator& communicator, std::span<const double> mine) {
  std::vector<double> all(mine.size() * static_cast<std::size_t>(communicator.size()));
  communicator.allgather(ConstBuffer(mine), Buffer(std::span(all)));
  return all;
}

void check_any(double samples) {
  if (samples == 0) throw Error(ErrorCode::usage, "there are no samples to score");
}

}  // namespace

void RegressionMetrics::add(double prediction, double target) {
  squared_error_ += (prediction - target) * (prediction - target);
  count_ += 1;  // Welford, 1962
  const double difference = target - mean_;
  mean_ += difference / count_;
  deviation_ += difference * (target - mean_);
}

RegressionScore RegressionMetrics::score(Communicator& communicator) const {
  const double mine[] = {count_, squared_error_, mean_, deviation_};
  const std::vector<double> all = gather(communicator, mine);

  RegressionMetrics total;
  for (std::size_t i = 0; i < all.size(); i += 4) {
    if (all[i] == 0) continue;
    const double count = total.count_ + all[i];  // Chan, Golub & LeVeque, 1983
    const double difference = all[i + 2] - total.mean_;
    total.deviation_ += all[i + 3] + difference * difference * total.count_ * all[i] / count;
    total.mean_ += difference * all[i] / count;
    total.squared_error_ += all[i + 1];
    total.count_ = count;
  }
  check_any(total.count_);
  const double r2 = total.deviation_ > 0 ? 1 - total.squared_error_ / total.deviation_
                                         : std::numeric_limits<double>::quiet_NaN();
  return {static_cast<std::uint64_t>(total.count_), r2,
          std::sqrt(total.squared_error_ / total.count_)};
}

template <class T>
void ClassificationMetrics::add(std::span<const T> logits, std::uint32_t label) {
  cross_entropy_ += train::cross_entropy<T>(logits, std::span(&label, 1));
  count_ += 1;
  if (std::ranges::max_element(logits) - logits.begin() == label) right_ += 1;
}

ClassificationScore ClassificationMetrics::score(Communicator& communicator) const {
  const double mine[] = {count_, right_, cross_entropy_};
  const std::vector<double> all = gather(communicator, mine);
  ClassificationMetrics total;
  for (std::size_t i = 0; i < all.size(); i += 3) {
    total.count_ += all[i];
    total.right_ += all[i + 1];
    total.cross_entropy_ += all[i + 2];
  }
  check_any(total.count_);
  return {static_cast<std::uint64_t>(total.count_), total.right_ / total.count_,
          total.cross_entropy_ / total.count_};
}

template void ClassificationMetrics::add(std::span<const float>, std::uint32_t);
template void ClassificationMetrics::add(std::span<const double>, std::uint32_t);

}  // namespace rondo::train
