#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>

#include <rondo/error.hpp>

#include "core/product.hpp"
#include "core/reduce.hpp"
#include "device/group.hpp"

namespace rondo::device {

/// Where memory lies, and who may touch it.
enum class MemoryKind : std::uint8_t {
  host,     ///< ordinary memory of the process
  pinned,   ///< host memory that stays in place, which devices reach as well
  managed,  ///< host and device may touch it, in turns
  device,   ///< only copies and kernels may touch it
};

/// "host", "pinned", …
std::string_view name_of(MemoryKind kind);

struct Location {
  MemoryKind kind = MemoryKind::host;
  int device = 0;  ///< where it was allocated; of no meaning for MemoryKind::host

  friend bool operator==(const Location&, const Location&) = default;
};

/// An allocation of device memory, as the processes of its node may know it. Plain memory: it
/// travels as it is.
struct SharedAllocation {
  std::array<std::byte, 64> handle{};
  std::uint64_t process = 0;  ///< whose it is: a number drawn by chance
  std::uint64_t number = 0;   ///< no other allocation of that process ever has it; never 0
  std::uint64_t address = 0;  ///< where it begins in that process
};

/// Where something lies in an allocation.
struct SharedAddress {
  SharedAllocation allocation;
  std::uint64_t offset = 0;  ///< bytes from its beginning
};

/// A mark in a stream's work. Not for two threads at once.
class Event {
 public:
  virtual ~Event() = default;
  /// Whether the work before the latest record is over; true when there was none. Throws
  /// Error(cuda) if it failed.
  virtual bool done() = 0;
  /// Waits until done().
  virtual void synchronize() = 0;
};

/// A function of core/each.hpp and the arrays that it works on, in the device's reach.
struct Job {
  struct Array {
    void* data;
    std::size_t bytes;
  };
  std::string_view kernel;  ///< its name in cuda/, which does what `on_host` does
  const void* function;     ///< copied; so are the arrays' addresses
  std::size_t function_bytes;
  std::size_t count;  ///< indices
  std::span<const Array> arrays;
  void (*on_host)(const void* function, std::size_t count, void* const* arrays);
};
inline constexpr std::size_t kMostArrays = 8;

/// Matrix products of float32 or float64 in the device's reach.
struct Multiplication {
  DataType type;
  core::Product product;
  core::Batch batch;
  const void* a;
  const void* b;
  double beta;
  void* c;
};

/// Work that a device does in order, while the caller goes on. Not for two threads at once. Work
/// that fails does so late: every later call of the stream, and of events recorded behind it, may
/// throw Error(cuda), and synchronize() does; the work enqueued behind it isn't done.
class Stream {
 public:
  /// Waits for the work; logs what went wrong.
  virtual ~Stream() = default;

  /// What Runtime::wrap_stream() takes for this one.
  virtual void* handle() = 0;

  /// Copies `bytes` between memory of any kinds. Both must stay as they are until it is over. With
  /// MemoryKind::host on either side the call itself may wait.
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;

  static constexpr int kMostSources = 128;
  /// core::reduce_many in memory that the device reaches, of any alignment; the same bits, NaN
  /// payloads aside. `out` may be one of the sources. More than kMostSources are refused at once.
  virtual void reduce(const core::Fold& fold, std::span<const void* const> sources, void* out,
                      std::size_t count) = 0;

  /// A span of elements, and where it goes.
  struct Piece {
    const void* from;
    void* to;
    std::size_t count;
  };
  /// core::convert of many pieces at once, such as gradients that become a bucket, or come out of
  /// it. A piece may be converted in place if its elements keep their size; else none may overlap.
  virtual void convert(const core::Conversion& conversion, std::span<const Piece> pieces) = 0;

  virtual void run(const Job& job) = 0;
  virtual void multiply(const Multiplication& work) = 0;

  virtual void record(Event& event) = 0;
  /// Later work begins when the work before the event's latest record is over. The calling thread
  /// doesn't wait.
  virtual void wait(Event& event) = 0;
  /// Later work begins once the word at `flag`, in pinned memory, is at least `value`, counting
  /// round from 2^32 - 1 to 0. No thread waits.
  virtual void wait_value(const std::uint32_t* flag, std::uint32_t value) = 0;
  /// Whether what is enqueued is recorded into a graph instead of done.
  virtual bool is_captured() = 0;
  /// Whether all work is over.
  virtual bool idle() = 0;
  virtual void synchronize() = 0;
};

class Gates;

/// The devices of one make, such as CUDA's. Any thread may use it; it outlives what it made.
///
/// Failures are Error(cuda); the message says which call failed, on which device, and why.
class Runtime {
 public:
  Runtime();
  virtual ~Runtime();

  /// "cuda", as messages call it.
  virtual std::string_view name() const = 0;
  virtual int device_count() = 0;

  /// The kind of the memory that holds `address`, found anew each time; MemoryKind::host for all
  /// that isn't known here, such as null. Doesn't throw.
  virtual Location locate(const void* address) noexcept = 0;

  /// At least 256-byte aligned, except MemoryKind::host, which is aligned as by malloc; null for 0
  /// bytes. `device` is where the memory lies, or to be reached from.
  virtual void* allocate(Location where, std::size_t bytes) = 0;
  /// What `allocate(where, …)` gave. Logs what goes wrong.
  virtual void free(Location where, void* memory) noexcept = 0;

  /// How others reach the allocation that holds `address`; none where they can't: memory that isn't
  /// a device's, that comes from a pool, or that is mapped piece by piece. Doesn't throw.
  virtual std::optional<SharedAddress> share(const void* address) noexcept = 0;
  /// The number of the allocation that holds `address` now; 0 if none does. Doesn't throw.
  virtual std::uint64_t allocation_at(const void* address) noexcept = 0;
  /// Where work on `device` reaches an allocation of this or another process. It stays, even if its
  /// owner frees it, until close() was called as often. Throws Error(cuda) where it can't be
  /// reached: another node or container, a device without access to the other one.
  virtual void* open(const SharedAllocation& allocation, int device) = 0;
  /// `memory` is what open() gave. Logs what goes wrong.
  virtual void close(const SharedAllocation& allocation, int device, void* memory) noexcept = 0;

  /// One that no other stream waits for, nor the other way round, unless told so by events.
  virtual std::unique_ptr<Stream> make_stream(int device) = 0;
  /// A stream that the program has made, for CUDA a CUstream; null: the device's default stream,
  /// which waits for those of the program that don't say otherwise. It outlives what this returns,
  /// whose destructor leaves it alone.
  virtual std::unique_ptr<Stream> wrap_stream(int device, void* handle) = 0;
  virtual std::unique_ptr<Event> make_event(int device) = 0;

  virtual Identity identity(int device) = 0;
  /// What makes groups of these devices; loaded at the first call. Throws Error(nccl) saying what
  /// is missing where there is none.
  virtual GroupMaker& groups() = 0;

  /// What holds up streams of that device; made when first asked for. Throws Error(cuda).
  Gates& gates(int device);

 private:
  std::mutex mutex_;
  std::map<int, std::unique_ptr<Gates>> gates_;  // by device
};

/// The CUDA devices of this process. Loads the driver at the first call; throws Error(cuda) saying
/// what is missing where Rondo was built without CUDA, or there is no driver. CUDA is initialised
/// when a device is first asked for.
Runtime& cuda_runtime();

}  // namespace rondo::device
