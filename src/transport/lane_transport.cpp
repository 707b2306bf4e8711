#include "transport/lane_transport.hpp"

#include <algorithm>
#include <cstdlib>

namespace rondo::transport {

LaneTransport::LaneTransport(Transport& all, std::vector<Rank> ranks)
    : all_(all), ranks_(std::move(ranks)), topology_(Topology::spread(size())) {
  const auto me = std::find(ranks_.begin(), ranks_.end(), all.rank());
  rank_ = static_cast<Rank>(me - ranks_.begin());
}

std::unique_ptr<Transport> LaneTransport::split(int /*color*/, int /*key*/) {
  throw Error(ErrorCode::usage, "a lane is not split; split the communicator that it belongs to");
}

void LaneTransport::abort(int status) {
  all_.abort(status);
  std::abort();  // not reached
}

}  // namespace rondo::transport
