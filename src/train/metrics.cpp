#include <rondo/train/metrics.hpp>

#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include <rondo/error.hpp>

namespace rondo::train {

void RegressionMetrics::add(double prediction, double target) {
  squared_error_ += (prediction - target) * (prediction - target);
  count_ += 1;  // Welford, 1962
  const double difference = target - mean_;
  mean_ += difference / count_;
  deviation_ += difference * (target - mean_);
}

RegressionScore RegressionMetrics::score(Communicator& communicator) const {
  const double mine[] = {count_, squared_error_, mean_, deviation_};
  std::vector<double> all(4 * static_cast<std::size_t>(communicator.size()));
  communicator.allgather(ConstBuffer(std::span<const double>(mine)), Buffer(std::span(all)));

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
  if (total.count_ == 0) throw Error(ErrorCode::usage, "there are no samples to score");
  const double r2 = total.deviation_ > 0 ? 1 - total.squared_error_ / total.deviation_
                                         : std::numeric_limits<double>::quiet_NaN();
  return {static_cast<std::uint64_t>(total.count_), r2,
          std::sqrt(total.squared_error_ / total.count_)};
}

}  // namespace rondo::train
