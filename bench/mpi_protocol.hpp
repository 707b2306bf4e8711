#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "contender.hpp"
#include "contents.hpp"
#include "twins.hpp"
#include "workload.hpp"

namespace rondo::bench {

/// Bytes; a clock reads single operations on larger messages well enough.
inline constexpr std::size_t kBatched = std::size_t{16} * 1024;

/// How long to measure one workload.
struct Budget {
  double seconds = 0.5;  // for all contenders together
  int iterations = 0;    // if not 0: so many, however long they take
  bool cold = false;     // the caches are filled with something else before each sample
  int warm_up = 2;       // iterations that don't count
  int fewest = 7;        // iterations that count, however long they take
  int batch = 100;       // operations of a sample of up to 16 KiB
};

/// What one contender took for one workload; times in microseconds, of the slowest rank each.
struct Row {
  std::string impl;
  Workload work;
  std::string algorithm;
  double min_us = 0;
  double p50_us = 0;
  double p99_us = 0;
  double max_us = 0;
  std::size_t wrong = 0;  // elements, over all ranks and iterations
  std::size_t samples = 0;

  /// Bytes of the message per second, / 1e9; 0 for a barrier.
  double algbw() const;
  double busbw() const { return algbw() * work.bus_factor(); }
};

/// Measures contenders side by side, iteration by iteration:
///
///   outside the timed region each rank rewrites its input and output, and checks the result;
///   inside are the operation and one read of the whole output by its owner;
///   up to 16 KiB a sample is 100 operations back to back, on buffers used in turn;
///   on a device the time ends when the device has done them all, and nobody reads the output.
///
/// A time is that of the slowest rank. All ranks of MPI_COMM_WORLD take part.
class Protocol {
 public:
  /// Buffers for messages of up to `most_bytes`. Collective.
  Protocol(std::vector<Contender*> contenders, std::size_t most_bytes);
  /// The same with contenders whose buffers lie on `device`.
  Protocol(std::vector<Contender*> contenders, std::size_t most_bytes, device::Runtime& devices,
           int device);

  /// A row for each contender that supports it. Collective; the rows are alike on all ranks.
  std::vector<Row> measure(const Workload& work, const Budget& budget);

 private:
  struct Entry {
    Contender* contender;
    std::byte* input;
    std::byte* output;
    std::vector<double> times;
    std::size_t wrong = 0;
    std::string algorithm{};
  };

  void sample(Entry& entry, const Workload& work, const Contents& contents, const Budget& budget);
  void fill_caches();

  std::vector<Entry> entries_;
  std::size_t capacity_;
  std::optional<Twins> twins_;
  std::uint64_t turn_ = 0;
  std::vector<char> other_memory_;
};

}  // namespace rondo::bench
