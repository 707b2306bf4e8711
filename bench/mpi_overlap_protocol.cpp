#include "mpi_overlap_protocol.hpp"

#include <mpi.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace rondo::bench {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double over_all(double value, MPI_Op op) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, op, MPI_COMM_WORLD);
  return value;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

double OverlapResult::bound() const {
  const auto fastest = std::min_element(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return a.communication < b.communication;
  });
  return fastest == rows.end() ? compute : std::max(compute, fastest->communication);
}

OverlapProtocol::OverlapProtocol(const std::vector<std::string>& impls, Communicator& world,
                                 const ExchangeOptions& options)
    : layers_(options.counts.size()),
      rank_(world.rank()),
      ranks_(world.size()),
      none_{.exchange = make_exchange("none", world, options)} {
  for (const std::string& impl : impls)
    entries_.push_back({.exchange = make_exchange(impl, world, options)});
}

void OverlapProtocol::backward(GradientExchange& exchange, std::uint64_t passes) {
  const auto pieces = static_cast<std::uint64_t>(exchange.pieces());
  for (std::size_t layer = layers_; layer-- > 0;) {
    for (std::uint64_t piece = 0; passes > 0 && piece < pieces; ++piece) {
      computation_.run(passes * (piece + 1) / pieces - passes * piece / pieces);
      exchange.poll();
    }
    if (passes > 0) write_gradient(exchange.gradient(layer), layer, turn_, rank_);
    exchange.ready(layer);
  }
}

OverlapProtocol::Sample OverlapProtocol::sample(GradientExchange& exchange, std::uint64_t passes) {
  ++turn_;
  if (passes == 0)  // they are there already
    for (std::size_t layer = 0; layer < layers_; ++layer)
      write_gradient(exchange.gradient(layer), layer, turn_, rank_);
  MPI_Barrier(MPI_COMM_WORLD);
  Sample sample;
  const double processor_before = processor_seconds();
  const auto start = Clock::now();
  exchange.begin();
  backward(exchange, passes);
  exchange.finish();
  sample.seconds = over_all(seconds_since(start), MPI_MAX);
  sample.processor =
      over_all(processor_seconds() - processor_before, MPI_SUM) / static_cast<double>(ranks_);
  for (std::size_t layer = 0; layer < layers_; ++layer)
    sample.wrong += count_wrong(exchange.gradient(layer), layer, turn_, ranks_);
  return sample;
}

void OverlapProtocol::calibrate(double seconds) {
  constexpr double kLongEnough = 0.02;
  constexpr double kMostPasses = 1e12;
  constexpr int kSamples = 3;
  constexpr int kRefinements = 3;
  // What disturbs a sample makes it longer.
  const auto fastest = [&] {
    double taken = sample(*none_.exchange, passes_).seconds;
    for (int i = 1; i < kSamples; ++i)
      taken = std::min(taken, sample(*none_.exchange, passes_).seconds);
    return taken;
  };
  passes_ = 64;
  double taken = fastest();
  for (; taken < std::min(seconds, kLongEnough); taken = fastest()) passes_ *= 2;
  for (int i = 0; i < kRefinements; ++i) {
    const double wanted = static_cast<double>(passes_) * seconds / taken;
    passes_ = static_cast<std::uint64_t>(
        std::clamp(std::round(wanted), 1.0, kMostPasses / static_cast<double>(layers_)));
    taken = fastest();
  }
}

double OverlapProtocol::communication() {
  constexpr int kSamples = 3;
  GradientExchange& exchange = *entries_.front().exchange;
  sample(exchange, 0);  // connections and memory are made
  std::vector<double> times;
  for (int i = 0; i < kSamples; ++i) times.push_back(sample(exchange, 0).seconds);
  return median(times);
}

void OverlapProtocol::round() {
  const double compute = sample(*none_.exchange, passes_).seconds;
  none_.steps.push_back(compute);
  for (Entry& entry : entries_) {
    const Sample together = sample(*entry.exchange, passes_);
    const Sample alone = sample(*entry.exchange, 0);
    entry.steps.push_back(together.seconds);
    entry.processor.push_back(together.processor);
    entry.alone.push_back(alone.seconds);
    entry.exposed.push_back(together.seconds - compute);
    entry.wrong += together.wrong + alone.wrong;
  }
}

OverlapResult OverlapProtocol::measure(const OverlapBudget& budget) {
  constexpr int kFewest = 3;
  round();  // connections and memory are made
  const auto forget = [](Entry& entry) {
    for (auto* times : {&entry.steps, &entry.alone, &entry.exposed, &entry.processor})
      times->clear();
  };
  forget(none_);
  std::for_each(entries_.begin(), entries_.end(), forget);

  OverlapResult result;
  const auto start = Clock::now();
  const auto goes_on = [&] {
    if (budget.steps > 0) return result.samples < budget.steps;
    return result.samples < kFewest || over_all(seconds_since(start), MPI_MAX) < budget.seconds;
  };
  for (; goes_on(); ++result.samples) round();

  result.compute = median(none_.steps);
  result.operations = passes_ * Computation::kOperations;
  for (const Entry& entry : entries_)
    result.rows.push_back(
        {.impl = entry.exchange->name(),
         .step = median(entry.steps),
         .fastest_step = *std::min_element(entry.steps.begin(), entry.steps.end()),
         .communication = median(entry.alone),
         .exposed = std::max(0.0, median(entry.exposed)),
         .processor = median(entry.processor),
         .wrong = static_cast<std::size_t>(over_all(static_cast<double>(entry.wrong), MPI_SUM))});
  return result;
}

}  // namespace rondo::bench
