#include <algorithm>

#include <rondo/train/reducer.hpp>

namespace rondo::train {

double CommunicationTimes::overlap() const {
  return communication > 0 ? std::clamp(1 - exposed / communication, 0.0, 1.0) : 1;
}

CommunicationTimes& CommunicationTimes::operator+=(const CommunicationTimes& other) {
  communication += other.communication;
  exposed += other.exposed;
  return *this;
}

}  // namespace rondo::train
