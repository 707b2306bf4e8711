#pragma once

#include <cstddef>

#include "context.hpp"
#include "device/runtime.hpp"

namespace rondo::cuda {

class Event : public device::Event {
 public:
  explicit Event(const Context& context);
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() override;

  bool done() override;
  void synchronize() override;

  CUevent handle() const { return handle_; }

 private:
  const Context& context_;
  CUevent handle_ = nullptr;
};

class Stream : public device::Stream {
 public:
  explicit Stream(const Context& context);
  /// The program's own.
  Stream(const Context& context, CUstream handle) : context_(context), handle_(handle) {}
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() override;

  void* handle() override { return handle_; }
  void copy(void* to, const void* from, std::size_t bytes) override;
  void reduce(const core::Fold& fold, std::span<const void* const> sources, void* out,
              std::size_t count) override;
  void convert(const core::Conversion& conversion, std::span<const Piece> pieces) override;
  void run(const device::Job& job) override;
  void multiply(const device::Multiplication& work) override;
  void record(device::Event& event) override;
  void wait(device::Event& event) override;
  void wait_value(const std::uint32_t* flag, std::uint32_t value) override;
  bool is_captured() override;
  bool idle() override;
  void synchronize() override;

 private:
  const Context& context_;
  CUstream handle_ = nullptr;
  bool owned_ = false;
};

}  // namespace rondo::cuda
