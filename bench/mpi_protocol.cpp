#include "mpi_protocol.hpp"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <utility>

namespace rondo::bench {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kBatch = 100;                          // the most
constexpr std::size_t kInTurn = 256 * 1024;          // bytes of buffers used in turn
constexpr std::size_t kInPlace = kBatch * kBatched;  // the same in place, where each is used once
constexpr std::size_t kLine = 64;
constexpr int kMost = 10'000;

volatile std::uint64_t seen = 0;

/// One read of it all, which the compiler can't leave out.
void read(const std::byte* data, std::size_t bytes) {
  std::uint64_t sum = 0;
  std::size_t i = 0;
  for (; i + sizeof sum <= bytes; i += sizeof sum) {
    std::uint64_t word = 0;
    std::memcpy(&word, data + i, sizeof word);
    sum ^= word;
  }
  for (; i < bytes; ++i) sum ^= static_cast<std::uint64_t>(data[i]);
  seen = sum;
}

double slowest(double seconds) {
  double most = 0;
  MPI_Allreduce(&seconds, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return most;
}

/// A call's buffers, and those of the batch's other calls behind them.
struct Buffers {
  Buffers(std::byte* input, std::byte* output, const Workload& work, std::size_t capacity)
      : input_(input), output_(output), work_(work) {
    stride_ = std::max(kLine, (work.bytes() + kLine - 1) / kLine * kLine);
    const std::size_t room = work.in_place ? kInPlace : kInTurn;
    const std::size_t wanted = work.bytes() <= kBatched ? room / stride_ : 1;
    in_turn_ = std::clamp<std::size_t>(capacity / stride_, 1, wanted);
  }

  std::size_t in_turn() const { return in_turn_; }
  /// That the first `buffers` inputs take, and as many the outputs.
  std::size_t bytes(std::size_t buffers) const { return buffers * stride_; }
  /// In place, the smaller of the two lies within the larger one.
  std::byte* input(std::size_t i) const {
    const bool within = work_.in_place && work_.input_count() < work_.output_count();
    return within ? whole_output(i) + nested() : whole_input(i);
  }
  std::byte* output(std::size_t i) const {
    if (!work_.in_place || work_.input_count() < work_.output_count()) return whole_output(i);
    return whole_input(i) + nested();
  }

 private:
  std::size_t nested() const { return work_.nested_at() * size_of(work_.type); }
  std::byte* whole_input(std::size_t i) const { return input_ + i % in_turn_ * stride_; }
  std::byte* whole_output(std::size_t i) const { return output_ + i % in_turn_ * stride_; }

  std::byte* input_;
  std::byte* output_;
  const Workload& work_;
  std::size_t stride_;
  std::size_t in_turn_;
};

double percentile(const std::vector<double>& sorted, double part) {
  const auto last = static_cast<double>(sorted.size() - 1);
  return sorted[static_cast<std::size_t>(part * last + 0.5)];
}

Row row_of(const std::string& name, const Workload& work, std::vector<double> times) {
  std::sort(times.begin(), times.end());
  Row row{.impl = name, .work = work, .algorithm = {}};
  row.min_us = times.front() * 1e6;
  row.p50_us = percentile(times, 0.5) * 1e6;
  row.p99_us = percentile(times, 0.99) * 1e6;
  row.max_us = times.back() * 1e6;
  row.samples = times.size();
  return row;
}

}  // namespace

double Row::algbw() const {
  return work.collective == Collective::barrier
             ? 0.0
             : static_cast<double>(work.bytes()) / (p50_us * 1e-6) / 1e9;
}

Protocol::Protocol(std::vector<Contender*> contenders, std::size_t most_bytes)
    : capacity_(std::max(most_bytes + kLine, kInPlace)) {
  for (Contender* contender : contenders) {
    std::byte* input = contender->allocate(capacity_);
    std::byte* output = contender->allocate(capacity_);
    entries_.push_back({contender, input, output, {}, 0});
  }
}

Protocol::Protocol(std::vector<Contender*> contenders, std::size_t most_bytes,
                   device::Runtime& devices, int device)
    : Protocol(std::move(contenders), most_bytes) {
  twins_.emplace(devices, device, capacity_);
}

std::vector<Row> Protocol::measure(const Workload& work, const Budget& budget) {
  std::vector<Entry*> taking_part;
  for (Entry& entry : entries_) {
    entry.times.clear();
    entry.wrong = 0;
    if (entry.contender->supports(work)) taking_part.push_back(&entry);
  }
  const Contents contents(work);
  const Clock::time_point start = Clock::now();
  const int most = budget.iterations > 0 ? budget.iterations + budget.warm_up : kMost;
  int goes_on = taking_part.empty() ? 0 : 1;
  for (int iteration = 0; goes_on != 0; ++iteration) {
    // Each goes first as often as any other: what ran before leaves its traces.
    std::rotate(taking_part.begin(), taking_part.begin() + 1, taking_part.end());
    for (Entry* entry : taking_part) {
      sample(*entry, work, contents, budget);
      if (iteration < budget.warm_up) entry->times.clear();
    }
    const std::chrono::duration<double> elapsed = Clock::now() - start;
    const bool time_left = budget.iterations > 0 || elapsed.count() < budget.seconds ||
                           iteration + 1 < budget.warm_up + budget.fewest;
    goes_on = iteration + 1 < most && time_left ? 1 : 0;
    MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  std::vector<Row> rows;
  for (const Entry& entry : entries_) {
    if (entry.times.empty()) continue;
    rows.push_back(row_of(entry.contender->name(), work, entry.times));
    rows.back().algorithm = entry.algorithm;
    unsigned long long wrong = entry.wrong;
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    rows.back().wrong = wrong;
  }
  return rows;
}

void Protocol::sample(Entry& entry, const Workload& work, const Contents& contents,
                      const Budget& budget) {
  const Buffers buffers(entry.input, entry.output, work, capacity_);
  const int batch = work.bytes() <= kBatched && !budget.cold ? std::min(budget.batch, kBatch) : 1;
  const std::size_t used =
      std::min<std::size_t>(buffers.in_turn(), static_cast<std::size_t>(batch));
  const Buffers seen_here =
      twins_ ? Buffers(twins_->input(), twins_->output(), work, capacity_) : buffers;
  turn_ += used;
  for (std::size_t i = 0; i < used; ++i)
    contents.write(turn_ + i, seen_here.input(i), seen_here.output(i));
  if (twins_) twins_->send(entry.input, entry.output, buffers.bytes(used));
  if (budget.cold) fill_caches();
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  const Clock::time_point start = Clock::now();
  for (int call = 0; call < batch; ++call) {
    const auto i = static_cast<std::size_t>(call);
    entry.contender->run(work, buffers.input(i), buffers.output(i));
    if (!twins_) read(buffers.output(i), work.output_count() * size_of(work.type));
  }
  entry.contender->complete();
  const std::chrono::duration<double> elapsed = Clock::now() - start;
  entry.times.push_back(slowest(elapsed.count()) / batch);
  entry.algorithm = entry.contender->algorithm();
  entry.contender->settle();
  if (twins_) twins_->fetch(entry.input, entry.output, buffers.bytes(used));
  for (std::size_t i = 0; i < used; ++i)
    entry.wrong += contents.count_wrong(turn_ + i, seen_here.output(i));
}

void Protocol::fill_caches() {
  constexpr std::size_t kBytes = 64 * 1024 * 1024;
  other_memory_.resize(kBytes);
  for (std::size_t i = 0; i < kBytes; i += kLine) ++other_memory_[i];
}

}  // namespace rondo::bench
