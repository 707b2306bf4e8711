#include "stream.hpp"

#include <cstdint>

#include <fmt/core.h>

#include "blas.hpp"
#include "launch.hpp"

namespace rondo::cuda {

namespace {

CUdeviceptr address(const void* memory) { return reinterpret_cast<CUdeviceptr>(memory); }

/// Whether `query` says that the work is over.
bool is_over(const Driver& driver, CUresult query, const char* action) {
  if (query == CUDA_ERROR_NOT_READY) return false;
  driver.check(query, action);
  return true;
}

}  // namespace

Event::Event(const Context& context) : context_(context) {
  const Context::Use use(context_);
  const Driver& driver = context_.driver;
  driver.check(driver.cuEventCreate(&handle_, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
}

Event::~Event() {
  context_.driver.log_unless_ok(context_.driver.cuEventDestroy(handle_), "cuEventDestroy");
}

bool Event::done() {
  const Context::Use use(context_);
  return is_over(context_.driver, context_.driver.cuEventQuery(handle_), "cuEventQuery");
}

void Event::synchronize() {
  const Context::Use use(context_);
  context_.driver.check(context_.driver.cuEventSynchronize(handle_), "cuEventSynchronize");
}

Stream::Stream(const Context& context) : context_(context) {
  const Context::Use use(context_);
  const Driver& driver = context_.driver;
  // Queues of its own: the program's streams may wait in theirs for what this one does. The driver
  // takes the highest priority that there is.
  constexpr int kHighest = -100;
  driver.check(driver.cuStreamCreateWithPriority(&handle_, CU_STREAM_NON_BLOCKING, kHighest),
               "cuStreamCreateWithPriority");
  owned_ = true;
}

Stream::~Stream() {
  if (!owned_) return;
  const Context::Use use(context_);
  const Driver& driver = context_.driver;
  driver.log_unless_ok(driver.cuStreamSynchronize(handle_), "cuStreamSynchronize");
  driver.log_unless_ok(driver.cuStreamDestroy(handle_), "cuStreamDestroy");
}

void Stream::copy(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  const Context::Use use(context_);
  const Driver& driver = context_.driver;
  driver.check(driver.cuMemcpyAsync(address(to), address(from), bytes, handle_),
               fmt::format("cuMemcpyAsync of {} bytes on device {}", bytes, context_.device));
}

void Stream::reduce(const core::Fold& fold, std::span<const void* const> sources, void* out,
                    std::size_t count) {
  launch_reduce({context_, handle_}, fold, sources, out, count);
}

void Stream::convert(const core::Conversion& conversion, std::span<const Piece> pieces) {
  launch_convert({context_, handle_}, conversion, pieces);
}

void Stream::run(const device::Job& job) { launch_job({context_, handle_}, job); }

void Stream::multiply(const device::Multiplication& work) {
  const Context::Use use(context_);
  context_.blas.multiply(handle_, work);
}

void Stream::record(device::Event& event) {
  const Context::Use use(context_);  // which the default stream is of
  context_.driver.check(context_.driver.cuEventRecord(static_cast<Event&>(event).handle(), handle_),
                        "cuEventRecord");
}

void Stream::wait(device::Event& event) {
  const Context::Use use(context_);
  context_.driver.check(
      context_.driver.cuStreamWaitEvent(handle_, static_cast<Event&>(event).handle(), 0),
      "cuStreamWaitEvent");
}

void Stream::wait_value(const std::uint32_t* flag, std::uint32_t value) {
  const Context::Use use(context_);
  // Pinned memory has the same address on devices.
  context_.driver.check(
      context_.driver.cuStreamWaitValue32(handle_, address(flag), value, CU_STREAM_WAIT_VALUE_GEQ),
      "cuStreamWaitValue32");
}

bool Stream::is_captured() {
  const Context::Use use(context_);
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  context_.driver.check(context_.driver.cuStreamIsCapturing(handle_, &status),
                        "cuStreamIsCapturing");
  return status != CU_STREAM_CAPTURE_STATUS_NONE;
}

bool Stream::idle() {
  const Context::Use use(context_);
  return is_over(context_.driver, context_.driver.cuStreamQuery(handle_), "cuStreamQuery");
}

void Stream::synchronize() {
  const Context::Use use(context_);
  context_.driver.check(context_.driver.cuStreamSynchronize(handle_), "cuStreamSynchronize");
}

}  // namespace rondo::cuda
