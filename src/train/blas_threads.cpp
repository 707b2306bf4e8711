#include <rondo/train/blas_threads.hpp>

#include <cblas.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include <rondo/communicator.hpp>

#include "core/check.hpp"

namespace rondo::train {

namespace {

constexpr std::size_t kMostProcessors = 8192;  // what Linux can be built for on x86
constexpr std::size_t kWords = kMostProcessors / 64;

/// Where a rank may run: its host, and a bit for each processor there.
struct Place {
  std::uint64_t host = 0;
  std::array<std::uint64_t, kWords> processors{};
};

Place this_place() {
  std::array<char, 256> name{};
  core::check_system(gethostname(name.data(), name.size() - 1), "call", "gethostname");
  Place place;
  place.host = std::hash<std::string_view>{}(name.data());
  auto* const mask = reinterpret_cast<cpu_set_t*>(place.processors.data());
  core::check_system(sched_getaffinity(0, sizeof(place.processors), mask), "call",
                     "sched_getaffinity");
  return place;
}

/// Processors that any of the ranks on `host` may use ÷ those ranks. Counting the union is right
/// whether the launcher bound each rank to processors of its own, or all ranks share them.
int share_of(std::uint64_t host, const std::vector<Place>& places) {
  std::bitset<kMostProcessors> processors;
  std::size_t ranks = 0;
  for (const Place& place : places) {
    if (place.host != host) continue;
    ++ranks;
    for (std::size_t bit = 0; bit < kMostProcessors; ++bit)
      if ((place.processors[bit / 64] >> (bit % 64) & 1U) != 0) processors.set(bit);
  }
  return static_cast<int>(std::max<std::size_t>(1, processors.count() / ranks));
}

}  // namespace

int limit_blas_threads(Communicator& communicator) {
  const Place mine = this_place();
  std::vector<Place> places(static_cast<std::size_t>(communicator.size()));
  communicator.allgather(ConstBuffer(&mine, sizeof(Place), DataType::uint8),
                         Buffer(places.data(), places.size() * sizeof(Place), DataType::uint8));
  const int threads = std::min(share_of(mine.host, places), openblas_get_num_threads());
  openblas_set_num_threads(threads);
  return threads;
}

}  // namespace rondo::train
