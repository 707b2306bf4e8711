#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <rondo/communicator.hpp>

#include "device/gates.hpp"
#include "device/in_use.hpp"
#include "device/memory.hpp"
#include "engine/launches.hpp"
#include "support/choose_devices.hpp"
#include "support/host_device.hpp"
#include "support/host_stream.hpp"
#include "support/thread_communicators.hpp"
#include "support/thrown.hpp"

// Calls that are ordered with a stream of the program's, on ranks that are threads.
namespace rondo::engine {
namespace {

using device::Memory;
using device::MemoryKind;
using testing::run_communicators;
using testing::Thrown;
using testing::thrown;

class StreamOrder : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    host_.dawdle();
    testing::choose_devices(GetParam(), host_, devices_);
    device::use(devices_);
  }
  void TearDown() override { device::use(nullptr); }

  Memory floats(std::size_t count, MemoryKind kind) {
    return {*devices_, {kind, 0}, count * sizeof(float)};
  }
  std::unique_ptr<device::Stream> stream() { return devices_->make_stream(0); }

  testing::HostDevice host_;
  device::Runtime* devices_ = nullptr;
};
/// With what the host's devices alone can do.
class HostStreamOrder : public StreamOrder {};

Buffer buffer(const Memory& memory) {
  return {memory.data(), memory.bytes() / sizeof(float), DataType::float32};
}
std::span<float> values(const Memory& memory) {
  return {reinterpret_cast<float*>(memory.data()), memory.bytes() / sizeof(float)};
}
Options in(device::Stream& stream) {
  return {.stream = Stream(static_cast<CUstream_st*>(stream.handle()))};
}

/// A rank's stream, and data that go to the device in it, and come back.
struct Data {
  Data(device::Runtime& devices, std::size_t count, float value)
      : stream(devices.make_stream(0)),
        sent(devices, {MemoryKind::pinned, 0}, count * sizeof(float)),
        data(devices, {MemoryKind::device, 0}, sent.bytes()),
        received(devices, {MemoryKind::pinned, 0}, sent.bytes()) {
    for (float& element : values(sent)) element = value;
  }
  void go_down() const { stream->copy(data.data(), sent.data(), sent.bytes()); }
  void come_back() const { stream->copy(received.data(), data.data(), received.bytes()); }
  void expect(float value) const {
    for (const float element : values(received)) ASSERT_EQ(element, value);
  }

  std::unique_ptr<device::Stream> stream;
  Memory sent;
  Memory data;
  Memory received;
};

constexpr std::size_t kCount = std::size_t{1} << 16;
constexpr std::size_t kStagingBytes = kCount;  // four parts

void run(int ranks, const testing::CommunicatorBody& body) {
  core::Settings settings;
  settings.staging_bytes = kStagingBytes;
  transport::ThreadWorld world(ranks);
  run_communicators(world, body, {}, settings);
}

TEST_P(StreamOrder, ACallComesBetweenWhatIsEnqueuedBeforeAndAfter) {
  for (const int ranks : {1, 3})
    run(ranks, [&](Communicator& communicator) {
      std::vector<Data> rounds;
      const auto shared = stream();
      for (int i = 0; i < 6; ++i)
        rounds.emplace_back(*devices_, kCount, float(communicator.rank() + i));
      const Memory data = floats(kCount, MemoryKind::device);
      std::vector<Request> requests;
      for (std::size_t i = 0; i < rounds.size(); ++i) {
        shared->copy(data.data(), rounds[i].sent.data(), data.bytes());
        if (i % 3 == 1)
          requests.push_back(
              communicator.iallreduce(buffer(data), buffer(data), ReduceOp::sum, in(*shared)));
        else
          communicator.allreduce(buffer(data), buffer(data), ReduceOp::sum, in(*shared));
        shared->copy(rounds[i].received.data(), data.data(), data.bytes());
      }
      shared->synchronize();
      const float of_ranks = float(ranks * (ranks - 1)) / 2;
      for (std::size_t i = 0; i < rounds.size(); ++i)
        rounds[i].expect(of_ranks + float(ranks) * float(i));
      for (Request& request : requests) request.wait();
      communicator.barrier();
    });
}

TEST_P(StreamOrder, ACallReturnsBeforeTheStreamGetsThere) {
  run(2, [&](Communicator& communicator) {
    const Data data(*devices_, kCount, 1);
    {
      const device::Gate gate = devices_->gates(0).hold_up(*data.stream);
      data.go_down();
      communicator.allreduce(buffer(data.data), buffer(data.data), ReduceOp::sum, in(*data.stream));
      communicator.broadcast(buffer(data.data), 1, in(*data.stream));
      data.come_back();
    }
    data.stream->synchronize();
    data.expect(2);
  });
}

TEST_P(StreamOrder, StreamsGoOnBesideEachOther) {
  run(2, [&](Communicator& communicator) {
    const Data late(*devices_, kCount, 1);
    const Data early(*devices_, kCount, 5);
    {
      const device::Gate gate = devices_->gates(0).hold_up(*late.stream);
      late.go_down();
      communicator.allreduce(buffer(late.data), buffer(late.data), ReduceOp::sum, in(*late.stream));
      late.come_back();
      early.go_down();
      communicator.allreduce(buffer(early.data), buffer(early.data), ReduceOp::sum,
                             in(*early.stream));
      early.come_back();
      early.stream->synchronize();
      early.expect(10);
    }
    late.stream->synchronize();
    late.expect(2);
  });
}

TEST_P(StreamOrder, TwoCommunicatorsMeetInOneStreamAndAcrossTwo) {
  run(2, [&](Communicator& first) {
    Communicator second = first.split(0, first.rank());
    const Data data(*devices_, kCount, 1);
    const auto other = stream();
    const auto summed = devices_->make_event(0);
    const auto summed_again = devices_->make_event(0);
    data.go_down();
    first.allreduce(buffer(data.data), buffer(data.data), ReduceOp::sum, in(*data.stream));
    second.allreduce(buffer(data.data), buffer(data.data), ReduceOp::sum, in(*data.stream));
    data.stream->record(*summed);
    other->wait(*summed);
    second.allreduce(buffer(data.data), buffer(data.data), ReduceOp::sum, in(*other));
    other->record(*summed_again);
    data.stream->wait(*summed_again);
    first.allreduce(buffer(data.data), buffer(data.data), ReduceOp::sum, in(*data.stream));
    data.come_back();
    data.stream->synchronize();
    data.expect(16);
  });
}

/// Where enqueuing is far ahead, it waits.
TEST_P(StreamOrder, CallsUnderWayAreNotEndlesslyMany) {
  run(1, [&](Communicator& communicator) {
    const Data data(*devices_, 1, 1);
    std::atomic<bool> opened = false;
    std::promise<void> last_one_comes;
    std::optional<device::Gate> gate(devices_->gates(0).hold_up(*data.stream));
    std::jthread opener([&] {
      last_one_comes.get_future().wait();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      opened = true;
      gate.reset();
    });
    for (int i = 0; i < Launches::kMostInStreams; ++i)
      communicator.allreduce(buffer(data.data), buffer(data.data), ReduceOp::sum, in(*data.stream));
    EXPECT_FALSE(opened);
    last_one_comes.set_value();
    communicator.allreduce(buffer(data.data), buffer(data.data), ReduceOp::sum, in(*data.stream));
    EXPECT_TRUE(opened);
    data.stream->synchronize();
  });
}

TEST_P(StreamOrder, TheCommunicatorMayGoBeforeTheStreamGetsThere) {
  const Data data(*devices_, kCount, 3);
  run(1, [&](Communicator& communicator) {
    data.go_down();
    communicator.allreduce(buffer(data.data), buffer(data.data), ReduceOp::sum, in(*data.stream));
    data.come_back();
  });
  data.stream->synchronize();
  data.expect(3);
}

/// What each of two ranks throws in `body`.
std::vector<Thrown> errors(const testing::CommunicatorBody& body,
                           const core::Settings& settings = {}) {
  std::vector<Thrown> all;
  for (const auto& error : testing::errors_with(2, settings, body)) all.push_back(thrown(error));
  return all;
}

TEST_P(HostStreamOrder, AFailureLetsTheStreamGoOnAndIsToldByTheNextCall) {
  for (const bool has_request : {false, true})
    for (const Thrown& error : errors([&](Communicator& communicator) {
           const Data data(*devices_, kCount, 1);
           const auto over = devices_->make_event(0);
           communicator.barrier();
           if (communicator.rank() == 0) host_.fail_copy(1);
           communicator.barrier();
           Request request;
           if (has_request)
             request = communicator.iallreduce(buffer(data.data), buffer(data.data), ReduceOp::sum,
                                               in(*data.stream));
           else
             communicator.allreduce(buffer(data.data), buffer(data.data), ReduceOp::sum,
                                    in(*data.stream));
           data.stream->record(*over);
           over->synchronize();
           request.wait();
           communicator.barrier();
         })) {
      EXPECT_EQ(error.code, ErrorCode::cuda) << error;
      EXPECT_TRUE(error.mentions("injected")) << error;
    }
}

TEST_P(HostStreamOrder, ARankThatDoesNotComeLetsTheStreamGoOnAtTheDeadline) {
  const auto all = errors([&](Communicator& communicator) {
    if (communicator.rank() == 1) return communicator.receive(Buffer(), 0);
    const Data data(*devices_, 1, 1);
    data.go_down();
    communicator.allreduce(
        buffer(data.data), buffer(data.data), ReduceOp::sum,
        {.timeout = std::chrono::milliseconds(50), .stream = in(*data.stream).stream});
    data.stream->synchronize();
    communicator.barrier();
  });
  for (const Thrown& error : all) EXPECT_EQ(error.code, ErrorCode::timeout) << error;
}

TEST_P(HostStreamOrder, NeedsTheProgressThread) {
  core::Settings settings;
  settings.progress = core::Settings::Progress::poll;
  for (const bool waits : {true, false})
    for (const Thrown& error : errors(
             [&](Communicator& communicator) {
               const Data data(*devices_, 1, 1);
               if (waits)
                 communicator.broadcast(buffer(data.data), 0, in(*data.stream));
               else
                 communicator.ibroadcast(buffer(data.data), 0, in(*data.stream)).wait();
             },
             settings)) {
      EXPECT_EQ(error.code, ErrorCode::usage) << error;
      EXPECT_TRUE(error.mentions("broadcast: with Options::stream it needs the progress thread"))
          << error;
    }
}

/// What is enqueued is recorded into a graph while this lives, which is thrown away.
class Capture {
 public:
  explicit Capture(device::Stream& stream) : stream_(stream) {
    if (set(true)) return;
    constexpr int kRelaxed = 2;  // other threads may do what they like
    EXPECT_EQ(function<int(void*, int)>("cuStreamBeginCapture_v2")(stream.handle(), kRelaxed), 0);
  }
  ~Capture() {
    void* graph = nullptr;
    if (set(false)) return;
    EXPECT_EQ(function<int(void*, void**)>("cuStreamEndCapture")(stream_.handle(), &graph), 0);
    EXPECT_EQ(function<int(void*)>("cuGraphDestroy")(graph), 0);
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

 private:
  bool set(bool captured) {
    auto* const of_host = dynamic_cast<testing::HostStream*>(&stream_);
    if (of_host != nullptr) of_host->capture(captured);
    return of_host != nullptr;
  }
  template <class Function>
  static Function* function(const char* name) {
    return reinterpret_cast<Function*>(dlsym(dlopen("libcuda.so.1", RTLD_NOW), name));
  }

  device::Stream& stream_;
};

TEST_P(StreamOrder, AStreamThatIsBeingCapturedIsRefused) {
  for (const Thrown& error : errors([&](Communicator& communicator) {
         const Data data(*devices_, 1, 1);
         const Capture capture(*data.stream);
         communicator.allreduce(buffer(data.data), buffer(data.data), ReduceOp::sum,
                                in(*data.stream));
       })) {
    EXPECT_EQ(error.code, ErrorCode::usage) << error;
    EXPECT_TRUE(error.mentions("is being captured into a graph")) << error;
  }
}

TEST_P(HostStreamOrder, CallsWithoutDeviceMemoryRefuseAStream) {
  using Call = std::function<void(Communicator&, Buffer, const Options&)>;
  const std::vector<std::size_t> counts{1, 1};
  const std::vector<std::pair<std::string, Call>> calls{
      {"allreduce: the input of rank",
       [](Communicator& c, Buffer b, const Options& o) { c.allreduce(b, b, ReduceOp::sum, o); }},
      {"is in pinned memory, but",
       [](Communicator& c, Buffer b, const Options& o) { c.ibroadcast(b, 0, o).wait(); }},
      {"allreduce of many tensors takes no stream",
       [](Communicator& c, Buffer b, const Options& o) {
         c.allreduce(std::span<const Buffer>(&b, 1), ReduceOp::sum, o);
       }},
      {"barrier takes no stream", [](Communicator& c, Buffer, const Options& o) { c.barrier(o); }},
      {"all_to_all_v takes no stream",
       [&](Communicator& c, Buffer b, const Options& o) {
         c.all_to_all_v(b, counts, b, counts, o);
       }},
      {"all_to_all_v takes no stream",
       [&](Communicator& c, Buffer b, const Options& o) {
         c.iall_to_all_v(b, counts, b, counts, o).wait();
       }},
      {"send takes no stream",
       [](Communicator& c, Buffer b, const Options& o) { c.send(b, 1 - c.rank(), o); }},
      {"receive takes no stream",
       [](Communicator& c, Buffer b, const Options& o) { c.receive(b, 1 - c.rank(), o); }},
      {"isend takes no stream",
       [](Communicator& c, Buffer b, const Options& o) { c.isend(b, 1 - c.rank(), o).wait(); }},
  };
  const auto queue = stream();
  for (const auto& [words, call] : calls)
    for (const Thrown& error : errors([&, &make = call](Communicator& communicator) {
           const Memory memory = floats(2, MemoryKind::pinned);
           make(communicator, buffer(memory), in(*queue));
         })) {
      EXPECT_EQ(error.code, ErrorCode::usage) << error;
      EXPECT_TRUE(error.mentions(words)) << error;
    }
}

TEST_P(HostStreamOrder, ACommunicatorIsNotMadeWithAStream) {
  const auto queue = stream();
  for (const auto& error : testing::errors_of_communicators(
           2, [](Communicator&) {}, in(*queue)))
    EXPECT_TRUE(thrown(error).mentions("Options::stream is for single calls")) << thrown(error);
}

const auto name = [](const auto& parameter) { return parameter.param; };
INSTANTIATE_TEST_SUITE_P(Host, StreamOrder, ::testing::Values("Host"), name);
INSTANTIATE_TEST_SUITE_P(Host, HostStreamOrder, ::testing::Values("Host"), name);
INSTANTIATE_TEST_SUITE_P(Cuda, StreamOrder, ::testing::Values("Cuda"), name);

}  // namespace
}  // namespace rondo::engine
