#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <rondo/error.hpp>

#include "device/gates.hpp"
#include "device/runtime.hpp"
#include "engine/call.hpp"
#include "engine/deadline.hpp"
#include "engine/operation.hpp"

namespace rondo::engine {

class LaunchPool;
class Session;

/// One asynchronous operation, from its call until its Request is gone. Whoever holds the session
/// writes it; the Request reads `state` at any time, and the rest once it is over.
struct Launch {
  enum class State : std::uint8_t { pending, done, failed };
  /// A send or receive has its peer as the call's root, and no number.
  enum class Kind : std::uint8_t { collective, send, receive };

  /// Keeps what the caller's arguments refer to, since the operation may begin later.
  void keep(const Call& call, const Terms& terms);
  bool is_over() const { return state.load(std::memory_order_acquire) != State::pending; }

  Session* session = nullptr;  // null once that is gone
  Kind kind = Kind::collective;
  Call call{};
  Terms terms{};
  std::uint64_t sequence = 0;  // of its operation under way, if it has several
  Deadline deadline{};
  /// Where the memory is a device's.
  struct OnDevice {
    device::Runtime* devices;
    int device;
    std::unique_ptr<device::Event> after;  // it begins when this is done
    std::optional<device::Gate> gate{};    // before the later work of the stream that was given
  };
  std::optional<OnDevice> on_device{};
  std::atomic<State> state{State::pending};
  std::optional<Error> error{};  // of one that failed
  std::string_view algorithm{};  // that has served it
  Deadline::Clock::time_point over_at{};
  LaunchPool* owner = nullptr;  // takes it back when it is over; null: a Request does
  Launch* next = nullptr;       // in its slot's queue, or among those to be used again

 private:
  std::vector<std::size_t> input_counts_{};
  std::vector<std::size_t> output_counts_{};
  std::string wanted_algorithm_{};
};

/// The launches of one communicator, used again and again. Any thread may call these.
class LaunchPool {
 public:
  /// A pending one.
  Launch& take();
  void give_back(Launch& launch);
  /// The session goes away.
  void forget_session();

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Launch>> all_;
  Launch* free_ = nullptr;
};

}  // namespace rondo::engine
