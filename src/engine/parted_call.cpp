#include "engine/parted_call.hpp"

#include <algorithm>
#include <numeric>

#include "core/digest.hpp"

namespace rondo::engine {

using collectives::Collective;

namespace {

std::byte* at(const void* data, std::size_t bytes) {
  return const_cast<std::byte*>(static_cast<const std::byte*>(data)) + bytes;
}

bool has_blocks(Collective collective) {
  return collective != Collective::allreduce && collective != Collective::reduce &&
         collective != Collective::broadcast && collective != Collective::send_receive;
}

/// What makes a part of one call unlike a part of another.
std::uint64_t details_of(const Call& call, int size, std::size_t part) {
  core::Digest digest;
  digest.mix(call.details);
  digest.mix(part);
  digest.mix(element_count(call, size));
  for (const std::size_t count : call.input_counts) digest.mix(count);
  for (const std::size_t count : call.output_counts) digest.mix(count);
  return digest.value();
}

/// The largest step by which all blocks' pieces have `room` elements at most.
std::size_t step_for(std::span<const std::size_t> counts, std::size_t longest, std::size_t room) {
  std::size_t least = 1;
  std::size_t most = std::max<std::size_t>(longest, 1);
  while (least < most) {
    const std::size_t step = least + (most - least + 1) / 2;
    std::size_t elements = 0;
    for (const std::size_t count : counts) elements += std::min(count, step);
    if (elements <= room)
      least = step;
    else
      most = step - 1;
  }
  return least;
}

}  // namespace

void PartedCall::cut(const Call& call, std::size_t room, std::span<const Buffer> tensors) {
  call_ = call;
  element_ = size_of(type());
  own_ = 0;
  blocks_.clear();
  tensors.empty() ? list_blocks() : list_tensors(tensors);
  set_step(room / element_);
}

void PartedCall::list_blocks() {
  const bool is_root = rank_ == call_.root;
  const auto ranks = static_cast<std::size_t>(size_);
  const std::byte* const input = at(call_.input.data, 0);
  std::byte* const output = at(call_.output.data, 0);
  switch (call_.collective) {
    case Collective::broadcast:
      blocks_ = {{is_root ? output : nullptr, is_root ? nullptr : output, call_.output.count}};
      break;
    case Collective::reduce_scatter:
      add_blocks(Side::input, call_.input_counts, call_.output.count);
      break;
    case Collective::allgather:
      add_blocks(Side::output, call_.output_counts, call_.input.count);
      break;
    case Collective::gather:
      if (is_root)
        add_blocks(Side::output, {}, call_.input.count);
      else
        blocks_ = {{input, nullptr, call_.input.count}};
      break;
    case Collective::scatter:
      if (is_root)
        add_blocks(Side::input, {}, call_.output.count);
      else
        blocks_ = {{nullptr, output, call_.output.count}};
      break;
    case Collective::all_to_all:
      add_blocks(Side::input_alone, {}, call_.input.count / ranks);
      add_blocks(Side::output_alone, {}, call_.output.count / ranks);
      break;
    default:  // allreduce, and reduce, where some have no output
      blocks_ = {{input, output, call_.input.count}};
  }
}

void PartedCall::list_tensors(std::span<const Buffer> tensors) {
  std::size_t begin = 0;
  for (const Buffer& tensor : tensors) {
    if (tensor.count == 0) continue;
    std::byte* const data = at(tensor.data, 0);
    blocks_.push_back({data, data, tensor.count, begin});
    begin += tensor.count;
  }
}

/// A block for each rank on one side; on the other one there is this rank's own, if anything.
void PartedCall::add_blocks(Side side, std::span<const std::size_t> counts, std::size_t uniform) {
  const bool of_input = side == Side::input || side == Side::input_alone;
  std::size_t offset = 0;
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(size_); ++rank) {
    const std::size_t count = counts.empty() ? uniform : counts[rank];
    Block block{nullptr, nullptr, count};
    if (of_input)
      block.down = at(call_.input.data, offset);
    else
      block.up = at(call_.output.data, offset);
    if (rank == static_cast<std::size_t>(rank_)) {
      if (side == Side::input) block.up = at(call_.output.data, 0);
      if (side == Side::output) block.down = at(call_.input.data, 0);
      // What only moves, and is in its place already, stays there.
      if (block.up == block.down && !reduces(call_.collective)) block.up = nullptr;
      own_ = rank;
    }
    blocks_.push_back(block);
    offset += count * element_;
  }
}

/// `room` in elements.
void PartedCall::set_step(std::size_t room) {
  const auto ranks = static_cast<std::size_t>(size_);
  const std::span<const std::size_t> counts =
      call_.input_counts.empty() ? call_.output_counts : call_.input_counts;
  std::size_t longest = blocks_.back().begin + blocks_.back().count;
  if (counts.empty()) {
    std::size_t blocks = has_blocks(call_.collective) ? ranks : 1;
    if (call_.collective == Collective::all_to_all) blocks *= 2;
    step_ = std::max<std::size_t>(1, room / blocks);
  } else {
    longest = *std::max_element(counts.begin(), counts.end());
    step_ = step_for(counts, longest, room);
  }
  parts_ = (longest + step_ - 1) / step_;
}

std::size_t PartedCall::first(const Block& block, std::size_t part) const {
  return std::clamp(part * step_, block.begin, block.begin + block.count) - block.begin;
}

/// The pieces whose blocks have such a place on the device.
template <class Place>
void PartedCall::list(std::size_t part, Place place, std::vector<device::Piece>& pieces) const {
  std::size_t offset = 0;
  for (const Block& block : blocks_) {
    const std::size_t bytes = elements(block, part) * element_;
    if (bytes > 0 && block.*place != nullptr)
      pieces.push_back({at(block.*place, first(block, part) * element_), offset, bytes});
    offset += bytes;
  }
}

void PartedCall::list_down(std::size_t part, std::vector<device::Piece>& pieces) const {
  list(part, &Block::down, pieces);
}

void PartedCall::list_up(std::size_t part, std::vector<device::Piece>& pieces) const {
  list(part, &Block::up, pieces);
}

Call PartedCall::part(std::size_t index, std::byte* memory) {
  counts_.clear();
  for (const Block& block : blocks_) counts_.push_back(elements(block, index));
  const auto buffer_of = [&](std::size_t first, std::size_t last) {
    const auto sum = [&](std::size_t from, std::size_t to) {
      return std::accumulate(counts_.begin() + static_cast<std::ptrdiff_t>(from),
                             counts_.begin() + static_cast<std::ptrdiff_t>(to), std::size_t{0});
    };
    return Buffer(memory + sum(0, first) * element_, sum(first, last), type());
  };
  const Buffer all = buffer_of(0, blocks_.size());
  const Buffer own = buffer_of(own_, own_ + 1);
  const Buffer at_root = rank_ == call_.root ? all : Buffer{};
  const auto ranks = static_cast<std::size_t>(size_);

  Call call = call_;
  call.on_device = true;
  call.details = details_of(call_, size_, index);
  call.input = all;
  call.output = all;
  switch (call_.collective) {
    case Collective::reduce:
      call.output = at_root;
      break;
    case Collective::reduce_scatter:
      call.output = own;
      break;
    case Collective::allgather:
      call.input = own;
      break;
    case Collective::gather:
      call.input = own;
      call.output = at_root;
      break;
    case Collective::scatter:
      call.input = at_root;
      call.output = own;
      break;
    case Collective::all_to_all:
      call.input = buffer_of(0, ranks);
      call.output = buffer_of(ranks, 2 * ranks);
      break;
    default:
      break;
  }
  if (!call_.input_counts.empty()) call.input_counts = counts_;
  if (!call_.output_counts.empty()) call.output_counts = counts_;
  return call;
}

}  // namespace rondo::engine
