#include "support/conformance_case.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <memory_resource>
#include <numeric>
#include <optional>

#include <fmt/core.h>
#include <rondo/shared_buffer.hpp>

#include "device/memory.hpp"
#include "support/pattern.hpp"

namespace rondo::testing {

using collectives::has_root;
using collectives::reduces;

namespace {

/// Consecutive elements of an output: reduced, or moved from a rank.
struct Piece {
  static constexpr Rank kReduced = -1;
  Rank source;
  std::size_t first;
  std::size_t count;
};

/// How one rank's buffers look in a call. In place, the smaller one lies within the larger one,
/// `nested_at` elements behind its beginning.
struct Shape {
  std::size_t input = 0;
  std::size_t output = 0;
  std::size_t nested_at = 0;
  std::vector<Piece> pieces;  // of the output
  std::vector<std::size_t> send_counts;
  std::vector<std::size_t> receive_counts;
};

/// Blocks of nothing, of one element, and of a multiple of `count`.
std::size_t uneven_block(std::size_t count, int which) {
  switch (which % 4) {
    case 0:
      return 0;
    case 1:
      return 2 * count;
    case 2:
      return std::min<std::size_t>(count, 1);
    default:
      return count / 2;
  }
}

std::vector<std::size_t> block_counts(const Case& c, int size) {
  std::vector<std::size_t> counts(size, c.count);
  if (c.uneven)
    for (Rank rank = 0; rank < size; ++rank) counts[rank] = uneven_block(c.count, rank);
  return counts;
}

std::size_t sum(std::span<const std::size_t> counts) {
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
}

void take_from_all(Shape& shape, std::span<const std::size_t> counts) {
  for (std::size_t rank = 0; rank < counts.size(); ++rank)
    shape.pieces.push_back({static_cast<Rank>(rank), 0, counts[rank]});
  shape.output = sum(counts);
}

/// Rank a sends a block of uneven_block(count, a + 2b) to rank b, or `count` to all.
void deal_to_all(Shape& shape, const Case& c, Rank rank, int size) {
  const auto block = [&](Rank from, Rank to) {
    return c.uneven ? uneven_block(c.count, from + 2 * to) : c.count;
  };
  for (Rank peer = 0; peer < size; ++peer) {
    shape.send_counts.push_back(block(rank, peer));
    shape.receive_counts.push_back(block(peer, rank));
    std::size_t first = 0;
    for (Rank to = 0; to < rank; ++to) first += block(peer, to);
    shape.pieces.push_back({peer, first, block(peer, rank)});
  }
  shape.input = sum(shape.send_counts);
  shape.output = sum(shape.receive_counts);
}

Shape shape_of(const Case& c, Rank rank, int size) {
  Shape shape;
  const std::vector<std::size_t> counts = block_counts(c, size);
  const std::size_t before = sum(std::span(counts).first(rank));
  const bool is_root = rank == c.root;
  switch (c.collective) {
    case Collective::allreduce:
      shape.input = shape.output = c.count;
      shape.pieces = {{Piece::kReduced, 0, c.count}};
      break;
    case Collective::reduce:
      shape.input = c.count;
      shape.output = is_root ? c.count : 0;
      shape.pieces = {{Piece::kReduced, 0, shape.output}};
      break;
    case Collective::broadcast:
      shape.output = c.count;
      shape.pieces = {{c.root, 0, c.count}};
      break;
    case Collective::reduce_scatter:
      shape.input = sum(counts);
      shape.output = counts[rank];
      shape.nested_at = before;
      shape.pieces = {{Piece::kReduced, before, counts[rank]}};
      shape.send_counts = counts;
      break;
    case Collective::allgather:
      shape.input = counts[rank];
      shape.nested_at = before;
      take_from_all(shape, counts);
      shape.receive_counts = counts;
      break;
    case Collective::all_to_all:
      deal_to_all(shape, c, rank, size);
      break;
    case Collective::gather:
      shape.input = c.count;
      if (is_root) take_from_all(shape, counts);
      shape.nested_at = before;
      break;
    case Collective::scatter:
      shape.input = is_root ? sum(counts) : 0;
      shape.output = c.count;
      shape.nested_at = before;
      shape.pieces = {{c.root, before, c.count}};
      break;
    case Collective::barrier:
    case Collective::split:
    case Collective::send_receive:
      break;
  }
  return shape;
}

void call(Communicator& communicator, const Case& c, const Shape& shape, ConstBuffer input,
          Buffer output, const Options& options) {
  switch (c.collective) {
    case Collective::allreduce:
      return communicator.allreduce(input, output, c.op, options);
    case Collective::reduce:
      return communicator.reduce(input, output, c.op, c.root, options);
    case Collective::broadcast:
      return communicator.broadcast(output, c.root, options);
    case Collective::reduce_scatter:
      if (c.uneven)
        return communicator.reduce_scatter_v(input, output, shape.send_counts, c.op, options);
      return communicator.reduce_scatter(input, output, c.op, options);
    case Collective::allgather:
      if (c.uneven) return communicator.allgather_v(input, output, shape.receive_counts, options);
      return communicator.allgather(input, output, options);
    case Collective::all_to_all:
      if (c.uneven)
        return communicator.all_to_all_v(input, shape.send_counts, output, shape.receive_counts,
                                         options);
      return communicator.all_to_all(input, output, options);
    case Collective::gather:
      return communicator.gather(input, output, c.root, options);
    case Collective::scatter:
      return communicator.scatter(input, output, c.root, options);
    case Collective::barrier:
      return communicator.barrier(options);
    case Collective::split:
    case Collective::send_receive:
      break;
  }
}

/// Whether there is a call that doesn't wait.
bool can_be_asynchronous(const Case& c) { return c.collective != Collective::send_receive; }

Request launch(Communicator& communicator, const Case& c, const Shape& shape, ConstBuffer input,
               Buffer output, const Options& options) {
  switch (c.collective) {
    case Collective::allreduce:
      return communicator.iallreduce(input, output, c.op, options);
    case Collective::reduce:
      return communicator.ireduce(input, output, c.op, c.root, options);
    case Collective::broadcast:
      return communicator.ibroadcast(output, c.root, options);
    case Collective::reduce_scatter:
      if (c.uneven)
        return communicator.ireduce_scatter_v(input, output, shape.send_counts, c.op, options);
      return communicator.ireduce_scatter(input, output, c.op, options);
    case Collective::allgather:
      if (c.uneven) return communicator.iallgather_v(input, output, shape.receive_counts, options);
      return communicator.iallgather(input, output, options);
    case Collective::all_to_all:
      if (c.uneven)
        return communicator.iall_to_all_v(input, shape.send_counts, output, shape.receive_counts,
                                          options);
      return communicator.iall_to_all(input, output, options);
    case Collective::gather:
      return communicator.igather(input, output, c.root, options);
    case Collective::scatter:
      return communicator.iscatter(input, output, c.root, options);
    default:
      return communicator.ibarrier(options);
  }
}

std::size_t misalignment_of(const Case& c, bool of_input) {
  switch (c.alignment) {
    case Alignment::aligned:
      return 0;
    case Alignment::one_element:
      return size_of(c.type);
    case Alignment::odd_byte:
      break;
  }
  return of_input ? 1 : 3;
}

/// What SharedAllocator gives.
class SharedResource final : public std::pmr::memory_resource {
  void* do_allocate(std::size_t bytes, std::size_t) override {
    return rondo::detail::allocate_shared(bytes);
  }
  void do_deallocate(void* memory, std::size_t bytes, std::size_t) override {
    rondo::detail::free_shared(memory, bytes);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override {
    return dynamic_cast<const SharedResource*>(&other) != nullptr;
  }
};

/// Input and output of calls, each with memory of its own.
struct Buffers {
  explicit Buffers(std::pmr::memory_resource* resource) : input(resource), output(resource) {}
  GuardedMemory input;
  GuardedMemory output;
};

/// What the buffers' memory, with its guards, is like in the memory of a device.
class OnDevice {
 public:
  explicit OnDevice(device::Runtime& devices)
      : devices_(devices), stream_(devices.make_stream(0)) {}

  void take(GuardedMemory& input, GuardedMemory& output) {
    mirrors_ = {{mirror(input), mirror(output)}};
  }
  /// In which the memory is taken and given back.
  device::Stream& stream() { return *stream_; }
  /// Where `address`, of one of the two, lies on the device.
  std::byte* find(const std::byte* address) const {
    for (const Mirror& mirror : mirrors_)
      if (address >= mirror.host.data() && address < mirror.host.data() + mirror.host.size())
        return mirror.device.data() + (address - mirror.host.data());
    return nullptr;
  }
  void give_back() {
    for (const Mirror& mirror : mirrors_)
      stream_->copy(mirror.host.data(), mirror.device.data(), mirror.host.size());
    stream_->synchronize();
  }

 private:
  struct Mirror {
    std::span<std::byte> host;
    device::Memory device;
  };

  Mirror mirror(GuardedMemory& memory) {
    const std::span<std::byte> host = memory.all();
    device::Memory on_device(devices_, {device::MemoryKind::device, 0}, host.size());
    stream_->copy(on_device.data(), host.data(), host.size());
    return {host, std::move(on_device)};
  }

  device::Runtime& devices_;
  std::unique_ptr<device::Stream> stream_;
  std::array<Mirror, 2> mirrors_;
};

/// Runs cases on one rank, reusing its memory.
class Runner {
 public:
  Runner(Communicator& communicator, const References& references, device::Runtime* devices,
         bool in_stream = false)
      : communicator_(communicator), references_(references), in_stream_(in_stream) {
    if (devices != nullptr) on_device_.emplace(*devices);
  }

  /// Says what is wrong, or nothing. The digest of the output is in digest().
  std::string run(const Case& c) {
    begin(c, false);
    return end();
  }
  /// The same in two parts, between which the call may be pending.
  void begin(const Case& c, bool asynchronously);
  std::string end();
  std::uint64_t output_digest() const { return digest_; }

 private:
  Pattern pattern(const Case& c) const {
    return reduces(c.collective) ? pattern_of(c.op) : Pattern::any_bits;
  }
  void prepare(const Case& c, const Shape& shape);
  void choose_memory(const Case& c);
  std::string check_output(const Case& c, const Shape& shape);
  std::string check_rest(const Case& c, const Shape& shape);
  std::string check_moved(const Case& c, const Piece& piece, const std::byte* got);
  void expect_pattern(const Case& c, Rank source, std::size_t first, std::size_t count);

  Communicator& communicator_;
  const References& references_;
  bool in_stream_;  // calls are ordered with the stream that takes memory to the device
  Case case_;
  Shape shape_;
  Request request_;
  SharedResource shared_resource_;
  Buffers ordinary_{std::pmr::new_delete_resource()};
  Buffers shared_{&shared_resource_};
  std::optional<OnDevice> on_device_;
  GuardedMemory* input_memory_ = nullptr;
  GuardedMemory* output_memory_ = nullptr;
  std::vector<std::byte> expected_;
  std::byte* input_ = nullptr;  // where the input lies: perhaps within the output
  std::byte* output_ = nullptr;
  bool nested_ = false;  // one of the two lies within the other
  std::uint64_t digest_ = 0;
};

void Runner::choose_memory(const Case& c) {
  const bool is_odd_one = c.memory == Memory::shared_but_on_one_rank &&
                          communicator_.rank() == static_cast<Rank>(c.count % communicator_.size());
  const bool shares_input = c.memory != Memory::ordinary && !is_odd_one;
  const bool shares_output = shares_input && c.memory != Memory::shared_inputs;
  input_memory_ = &(shares_input ? shared_ : ordinary_).input;
  output_memory_ = &(shares_output ? shared_ : ordinary_).output;
}

void Runner::prepare(const Case& c, const Shape& shape) {
  const std::size_t element = size_of(c.type);
  nested_ = c.where == Where::in_place && shape.input > 0 && shape.output > 0;
  const bool input_is_larger = shape.input >= shape.output;
  choose_memory(c);
  const bool has_input = !nested_ || input_is_larger;
  const bool has_output = !nested_ || !input_is_larger;
  input_memory_->resize(has_input ? shape.input * element : 0, misalignment_of(c, true));
  output_memory_->resize(has_output ? shape.output * element : 0, misalignment_of(c, false));
  input_ = has_input ? input_memory_->data() : output_memory_->data() + shape.nested_at * element;
  output_ = has_output ? output_memory_->data() : input_memory_->data() + shape.nested_at * element;
  const Rank rank = communicator_.rank();
  fill_pattern(c.type, pattern(c), rank, 0, shape.input, input_);
  if (c.collective == Collective::broadcast && rank == c.root)
    fill_pattern(c.type, pattern(c), rank, 0, shape.output, output_);
}

void Runner::begin(const Case& c, bool asynchronously) {
  case_ = c;
  const Shape& shape = shape_ = shape_of(c, communicator_.rank(), communicator_.size());
  prepare(c, shape);
  // Now and then, what has no elements has no address either.
  const bool null_if_empty = c.alignment == Alignment::aligned;
  if (on_device_) on_device_->take(*input_memory_, *output_memory_);
  const auto address = [&](std::byte* data, std::size_t count) {
    if (count == 0 && null_if_empty) return static_cast<std::byte*>(nullptr);
    return on_device_ ? on_device_->find(data) : data;
  };
  const ConstBuffer input(address(input_, shape.input), shape.input, c.type);
  const Buffer output(address(output_, shape.output), shape.output, c.type);
  Options options = c.options();
  if (in_stream_)
    options.stream = Stream(static_cast<CUstream_st*>(on_device_->stream().handle()));
  else if (on_device_)
    on_device_->stream().synchronize();
  if (asynchronously && can_be_asynchronous(c))
    request_ = launch(communicator_, c, shape, input, output, options);
  else
    call(communicator_, c, shape, input, output, options);
}

std::string Runner::end() {
  if (!in_stream_) request_.wait();
  if (on_device_) on_device_->give_back();
  request_.wait();
  std::string fault = check_output(case_, shape_);
  if (fault.empty()) fault = check_rest(case_, shape_);
  digest_ = digest(case_.type, shape_.output, output_);
  return fault;
}

std::string Runner::check_output(const Case& c, const Shape& shape) {
  const std::byte* got = output_;
  for (const Piece& piece : shape.pieces) {
    if (piece.source != Piece::kReduced) {
      const std::string fault = check_moved(c, piece, got);
      if (!fault.empty()) return fault;
    } else if (const auto fault = references_.of(c).check(piece.first, piece.count, got)) {
      return *fault;
    }
    got += piece.count * size_of(c.type);
  }
  return {};
}

std::string Runner::check_moved(const Case& c, const Piece& piece, const std::byte* got) {
  expect_pattern(c, piece.source, piece.first, piece.count);
  if (expected_.empty() || std::memcmp(expected_.data(), got, expected_.size()) == 0) return {};
  return fmt::format("the {} elements from rank {} are not what it had", piece.count, piece.source);
}

/// Everything but the output must be as it was.
std::string Runner::check_rest(const Case& c, const Shape& shape) {
  if (!input_memory_->intact()) return "something was written outside the input's memory";
  if (!output_memory_->intact()) return "something was written outside the output's memory";
  const bool output_within_input = nested_ && shape.input >= shape.output;
  if (nested_ && !output_within_input) return {};
  expect_pattern(c, communicator_.rank(), 0, shape.input);
  if (output_within_input && shape.output > 0)
    std::memcpy(expected_.data() + (output_ - input_), output_, shape.output * size_of(c.type));
  if (expected_.empty() || std::memcmp(expected_.data(), input_, expected_.size()) == 0) return {};
  return "the input was modified";
}

void Runner::expect_pattern(const Case& c, Rank source, std::size_t first, std::size_t count) {
  expected_.resize(count * size_of(c.type));
  fill_pattern(c.type, pattern(c), source, first, count, expected_.data());
}

}  // namespace

std::string Case::describe() const {
  std::string text = std::string(name_of(collective)) + (uneven ? "_v" : "");
  text += fmt::format(" by {} of {} {}", algorithm.empty() ? "choice" : algorithm, count,
                      name_of(type));
  if (reduces(collective)) text += fmt::format(" {}", name_of(op));
  if (has_root(collective)) text += fmt::format(", root {}", root);
  if (where == Where::in_place) text += ", in place";
  if (alignment != Alignment::aligned)
    text += alignment == Alignment::odd_byte ? ", at odd bytes" : ", one element off";
  if (segment_bytes != 0) text += fmt::format(", segments of {} bytes", segment_bytes);
  if (wire == Wire::narrow) text += ", narrow";
  if (scale != 1.0) text += fmt::format(", scaled by {}", scale);
  if (deterministic) text += ", deterministic";
  if (memory == Memory::shared) text += ", in shared memory";
  if (memory == Memory::shared_inputs) text += ", from shared memory";
  if (memory == Memory::shared_but_on_one_rank) text += ", in shared memory but on one rank";
  return text;
}

Options Case::options() const {
  Options options;
  options.algorithm = algorithm;
  options.segment_bytes = segment_bytes;
  options.wire = wire;
  options.scale = scale;
  options.deterministic = deterministic;
  return options;
}

bool has_uneven_blocks(Collective collective) {
  return collective == Collective::reduce_scatter || collective == Collective::allgather ||
         collective == Collective::all_to_all;
}

bool can_be_in_place(Collective collective) {
  return collective != Collective::broadcast && collective != Collective::all_to_all &&
         collective != Collective::barrier;
}

bool is_alike_on_all_ranks(Collective collective) {
  return collective == Collective::allreduce || collective == Collective::broadcast ||
         collective == Collective::allgather || collective == Collective::barrier;
}

namespace {

Reduction reduction_of(const Case& c) {
  return {c.type, c.op, c.scale, c.deterministic, c.wire == Wire::narrow};
}

std::size_t reduced_elements(const Case& c, int size) {
  return c.collective == Collective::reduce_scatter ? sum(block_counts(c, size)) : c.count;
}

}  // namespace

References::References(const transport::Topology& topology, std::span<const Case> cases) {
  std::map<Reduction, std::size_t> counts;
  for (const Case& c : cases) {
    if (!reduces(c.collective)) continue;
    std::size_t& count = counts[reduction_of(c)];
    count = std::max(count, reduced_elements(c, topology.size()));
  }
  for (const auto& [reduction, count] : counts)
    references_.try_emplace(reduction, reduction, topology, count);
}

const Reference& References::of(const Case& c) const { return references_.at(reduction_of(c)); }

void Findings::add(const Communicator& communicator, const Case& c, const std::string& fault) {
  if (fault.empty() || faults.size() >= kMostFaults) return;
  faults.push_back(fmt::format("rank {} of {}: {}: {}", communicator.rank(), communicator.size(),
                               c.describe(), fault));
}

Findings run_cases(Communicator& communicator, std::span<const Case> cases,
                   const References& references, device::Runtime* devices) {
  Findings findings;
  Runner runner(communicator, references, devices);
  for (const Case& c : cases) {
    const std::string fault = runner.run(c);
    findings.digests.push_back(runner.output_digest());
    findings.algorithms.emplace(communicator.last_algorithm());
    findings.add(communicator, c, fault);
  }
  return findings;
}

namespace {

Findings run_overlapped(Communicator& communicator, std::span<const Case> cases,
                        const References& references, device::Runtime* devices, bool in_streams) {
  constexpr std::size_t kInFlight = 5;
  Findings findings;
  std::deque<Runner> runners;
  for (std::size_t i = 0; i < kInFlight; ++i)
    runners.emplace_back(communicator, references, devices, in_streams);
  for (std::size_t begin = 0; begin < cases.size(); begin += kInFlight) {
    const std::size_t count = std::min(kInFlight, cases.size() - begin);
    for (std::size_t i = 0; i < count; ++i)
      runners[i].begin(cases[begin + i], (begin + i) % 4 != 3);
    std::array<std::string, kInFlight> faults;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t turn = (i + static_cast<std::size_t>(communicator.rank())) % count;
      const std::size_t which = communicator.rank() % 2 == 0 ? turn : count - 1 - turn;
      faults[which] = runners[which].end();
      findings.algorithms.emplace(communicator.last_algorithm());
    }
    for (std::size_t i = 0; i < count; ++i) {
      findings.digests.push_back(runners[i].output_digest());
      findings.add(communicator, cases[begin + i], faults[i]);
    }
  }
  return findings;
}

}  // namespace

Findings run_overlapped_cases(Communicator& communicator, std::span<const Case> cases,
                              const References& references, device::Runtime* devices) {
  return run_overlapped(communicator, cases, references, devices, false);
}

Findings run_cases_in_streams(Communicator& communicator, std::span<const Case> cases,
                              const References& references, device::Runtime* devices) {
  return run_overlapped(communicator, cases, references, devices, true);
}

}  // namespace rondo::testing
