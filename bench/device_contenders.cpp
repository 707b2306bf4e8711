#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <rondo/options.hpp>

#include "contender.hpp"
#include "device/memory.hpp"
#include "device/runtime.hpp"

// Contenders whose buffers lie on a device. What is done there is done by one that knows nothing of
// devices, or takes their memory as any other.
namespace rondo::bench {

namespace {

class OnDevice : public Contender {
 public:
  OnDevice(std::unique_ptr<Contender> inner, device::Runtime& devices, int device)
      : Contender(inner->name()), inner_(std::move(inner)), devices_(devices), device_(device) {}

  bool supports(const Workload& work) const override { return inner_->supports(work); }
  std::byte* allocate(std::size_t bytes) override {
    return buffers_
        .emplace_back(devices_, device::Location{device::MemoryKind::device, device_}, bytes)
        .data();
  }
  std::string algorithm() const override { return inner_->algorithm(); }

 protected:
  Contender& inner() { return *inner_; }
  device::Runtime& devices() { return devices_; }
  int device() const { return device_; }

 private:
  std::unique_ptr<Contender> inner_;
  device::Runtime& devices_;
  int device_;
  std::vector<device::Memory> buffers_;
};

/// Rondo's calls return once they are enqueued.
class InStream final : public OnDevice {
 public:
  InStream(std::unique_ptr<Contender> inner, device::Runtime& devices, int device)
      : OnDevice(std::move(inner), devices, device),
        stream_(devices.wrap_stream(device, nullptr)) {}

  void run(const Workload& work, std::byte* input, std::byte* output) override {
    inner().run(work, input, output);
  }
  void complete() override { stream_->synchronize(); }

 private:
  std::unique_ptr<device::Stream> stream_;
};

/// Of a library that knows host memory only.
class ThroughHost final : public OnDevice {
 public:
  ThroughHost(std::unique_ptr<Contender> inner, device::Runtime& devices, int device)
      : OnDevice(std::move(inner), devices, device), stream_(devices.make_stream(device)) {}

  void run(const Workload& work, std::byte* input, std::byte* output) override {
    const std::size_t in = work.input_count() * size_of(work.type);
    const std::size_t out = work.output_count() * size_of(work.type);
    make_room(work.bytes());
    std::byte* near_input = input_.data();
    std::byte* near_output = output_.data();
    // In place the smaller of the two lies within the larger one.
    if (work.in_place && in <= out) near_input = near_output + (input - output);
    if (work.in_place && in > out) near_output = near_input + (output - input);
    stream_->copy(near_input, input, in);
    if (work.collective == Collective::broadcast) stream_->copy(near_output, output, out);
    stream_->synchronize();
    inner().run(work, near_input, near_output);
    stream_->copy(output, near_output, out);
    stream_->synchronize();
  }

 private:
  void make_room(std::size_t bytes) {
    if (bytes <= input_.bytes()) return;
    const device::Location pinned{device::MemoryKind::pinned, device()};
    input_ = device::Memory(devices(), pinned, bytes);
    output_ = device::Memory(devices(), pinned, bytes);
  }

  std::unique_ptr<device::Stream> stream_;
  device::Memory input_;
  device::Memory output_;
};

}  // namespace

std::unique_ptr<Contender> make_mpi_on_device(device::Runtime& devices, int device) {
  return std::make_unique<ThroughHost>(make_mpi(), devices, device);
}

std::unique_ptr<Contender> make_rondo_on_device(std::string name, Communicator& world,
                                                std::string algorithm, device::Runtime& devices,
                                                int device) {
  return std::make_unique<InStream>(
      make_rondo(std::move(name), world, {.algorithm = std::move(algorithm), .in_stream = true}),
      devices, device);
}

}  // namespace rondo::bench
