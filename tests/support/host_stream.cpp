#include "support/host_stream.hpp"

#include <atomic>
#include <chrono>
#include <cstring>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "core/log.hpp"
#include "train/blas.hpp"

namespace rondo::testing {

namespace {
std::atomic<unsigned> made = 0;  // every other stream is slow, so that it falls behind
}

void HostEvent::State::wait_for(std::uint64_t mark) {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return reached >= mark; });
  if (failure) throw Error(*failure);
}

bool HostEvent::done() {
  const std::lock_guard lock(state_->mutex);
  if (state_->failure) throw Error(*state_->failure);
  return state_->reached == state_->recorded;
}

void HostEvent::synchronize() {
  std::uint64_t mark = 0;
  {
    const std::lock_guard lock(state_->mutex);
    mark = state_->recorded;
  }
  state_->wait_for(mark);
}

HostStream::HostStream(HostDevice& device)
    : device_(device),
      most_microseconds_(made++ % 2 == 0 ? 30 : 500),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

HostStream::~HostStream() {
  try {
    synchronize();
  } catch (const Error& error) {
    core::log(core::LogLevel::info, error.what());
  }
  thread_.request_stop();
  // So that the thread is either waiting or will see the request.
  { const std::lock_guard lock(mutex_); }
  changed_.notify_all();
}

void HostStream::copy(void* to, const void* from, std::size_t bytes) {
  enqueue({[this, to, from, bytes] {
    if (device_.until_failed_copy_.fetch_sub(1) == 0)
      throw Error(ErrorCode::cuda, "a copy failed: injected");
    if (bytes == 0) return;  // from null, perhaps
    HostMemory& memory = device_.memory_;
    std::memmove(memory.open(to, bytes, false), memory.open(from, bytes, false), bytes);
  }});
}

void HostStream::reduce(const core::Fold& fold, std::span<const void* const> sources, void* out,
                        std::size_t count) {
  if (sources.size() > kMostSources)
    throw Error(ErrorCode::usage, fmt::format("a reduction of {} sources; a device takes {}",
                                              sources.size(), kMostSources));
  if (count == 0) return;
  const std::vector<const void*> inputs(sources.begin(), sources.end());
  enqueue({[this, fold, inputs, out, count] {
    if (device_.until_failed_reduction_.fetch_sub(1) == 0)
      throw Error(ErrorCode::cuda, "a reduction failed: injected");
    HostMemory& memory = device_.memory_;
    std::vector<const void*> opened;
    for (const void* input : inputs)
      opened.push_back(memory.open(input, count * size_of(fold.type), true));
    const DataType type = fold.partial ? accumulator_of(fold.type) : fold.type;
    core::reduce_many(fold, opened, memory.open(out, count * size_of(type), true), count);
  }});
}

void HostStream::convert(const core::Conversion& conversion, std::span<const Piece> pieces) {
  const std::vector<Piece> all(pieces.begin(), pieces.end());
  enqueue({[this, conversion, all] {
    HostMemory& memory = device_.memory_;
    for (const Piece& piece : all)
      if (piece.count != 0)
        core::convert(
            conversion, memory.open(piece.from, piece.count * size_of(conversion.from), true),
            memory.open(piece.to, piece.count * size_of(conversion.to), true), piece.count);
  }});
}

void HostStream::run(const device::Job& job) {
  const auto* const bytes = static_cast<const std::byte*>(job.function);
  const std::vector<std::byte> function(bytes, bytes + job.function_bytes);
  const std::vector<device::Job::Array> arrays(job.arrays.begin(), job.arrays.end());
  enqueue({[this, function, arrays, count = job.count, on_host = job.on_host] {
    std::vector<void*> opened;
    for (const auto& [data, size] : arrays)
      opened.push_back(size == 0 ? nullptr : device_.memory_.open(data, size, true));
    on_host(function.data(), count, opened.data());
  }});
}

namespace {

std::size_t elements(std::size_t rows, std::size_t columns, std::size_t stride,
                     const core::Batch& batch, std::size_t step) {
  return (rows - 1) * std::max(stride, columns) + columns + (batch.count - 1) * step;
}

template <class T>
void multiply_opened(const device::Multiplication& work, HostMemory& memory) {
  const auto& [type, product, batch, a, b, beta, c] = work;
  const auto open = [&](const void* matrix, bool transposed, std::size_t rows, std::size_t columns,
                        std::size_t stride, std::size_t step) {
    if (transposed) std::swap(rows, columns);
    const std::size_t count = elements(rows, columns, stride, batch, step);
    return reinterpret_cast<T*>(memory.open(matrix, count * sizeof(T), true));
  };
  train::blas::multiply<T>(
      product, batch,
      open(a, product.transpose_a, product.rows, product.inner, product.stride_a, batch.step_a),
      open(b, product.transpose_b, product.inner, product.columns, product.stride_b, batch.step_b),
      static_cast<T>(beta),
      open(c, false, product.rows, product.columns, product.stride_c, batch.step_c));
}

}  // namespace

void HostStream::multiply(const device::Multiplication& work) {
  enqueue({[this, work] {
    if (work.type == DataType::float32)
      multiply_opened<float>(work, device_.memory_);
    else
      multiply_opened<double>(work, device_.memory_);
  }});
}

void HostStream::record(device::Event& event) {
  const auto state = static_cast<HostEvent&>(event).state_;
  std::uint64_t mark = 0;
  {
    const std::lock_guard lock(state->mutex);
    mark = ++state->recorded;
  }
  const auto reach = [this, state, mark] {
    std::optional<Error> failure;
    {
      const std::lock_guard lock(mutex_);
      failure = failure_;
    }
    const std::lock_guard lock(state->mutex);
    state->reached = std::max(state->reached, mark);
    if (failure) state->failure = failure;
    state->changed.notify_all();
  };
  enqueue({reach, /*even_after_failure=*/true});
}

void HostStream::wait(device::Event& event) {
  const auto state = static_cast<HostEvent&>(event).state_;
  std::uint64_t mark = 0;
  {
    const std::lock_guard lock(state->mutex);
    mark = state->recorded;
  }
  enqueue({[state, mark] { state->wait_for(mark); }});
}

void HostStream::wait_value(const std::uint32_t* flag, std::uint32_t value) {
  enqueue({[this, flag, value] {
    auto* const word = device_.memory_.open(flag, sizeof *flag, true);
    const std::atomic_ref current(*reinterpret_cast<std::uint32_t*>(word));
    while (static_cast<std::int32_t>(current.load() - value) < 0)
      std::this_thread::sleep_for(std::chrono::microseconds(10));
  }});
}

bool HostStream::idle() {
  const std::lock_guard lock(mutex_);
  throw_failure();
  return queue_.empty();
}

void HostStream::synchronize() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return queue_.empty(); });
  throw_failure();
}

void HostStream::throw_failure() {
  if (failure_) throw Error(*failure_);
}

void HostStream::enqueue(Work work) {
  const std::lock_guard lock(mutex_);
  queue_.push_back(std::move(work));
  changed_.notify_all();
}

void HostStream::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return !queue_.empty() || stop.stop_requested(); });
    if (queue_.empty()) return;
    const Work& work = queue_.front();
    const bool skip = failure_ && !work.even_after_failure;
    lock.unlock();
    if (!skip) run_one(work);
    lock.lock();
    queue_.pop_front();
    changed_.notify_all();
  }
}

void HostStream::run_one(const Work& work) {
  if (device_.dawdles_)
    std::this_thread::sleep_for(std::chrono::microseconds(random_() % most_microseconds_));
  try {
    work.body();
  } catch (const Error& error) {
    const std::lock_guard lock(mutex_);
    failure_.emplace(error);
  }
}

}  // namespace rondo::testing
