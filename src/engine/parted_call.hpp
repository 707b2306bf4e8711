#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "device/staging.hpp"
#include "engine/call.hpp"

namespace rondo::engine {

/// A collective call on a device's memory, cut into calls on pinned memory, alike on all ranks.
///
/// The message is a list of blocks, one for each rank where the collective has such. A part takes
/// the same range of every block, so that its calls are the same collective with smaller blocks:
///
///   block       0          1          2
///            |a b c d|  |a b c d|  |a b    |
///
/// The tensors of an all-reduce of many are blocks too, but one behind the other: a part has the
/// next elements of all of them together.
///
/// In pinned memory the part's pieces lie one after another.
class PartedCall : public device::StagedParts {
 public:
  PartedCall(Rank rank, int size) : rank_(rank), size_(size) {}

  /// A part has `room` bytes, or one element of each block. What `call` refers to must live as long
  /// as the parts are used. With `tensors`, an all-reduce in place of these, not all of them empty,
  /// whose message they make up.
  void cut(const Call& call, std::size_t room, std::span<const Buffer> tensors = {});

  std::size_t parts() const override { return parts_; }
  DataType type() const { return type_of(call_, rank_); }
  std::size_t elements() const { return element_count(call_, size_); }
  void list_down(std::size_t part, std::vector<device::Piece>& pieces) const override;
  void list_up(std::size_t part, std::vector<device::Piece>& pieces) const override;

  /// The call on one part at `memory`, in place where the collective can be. It refers to lists in
  /// here, until the next one is asked for.
  Call part(std::size_t index, std::byte* memory);

 private:
  struct Block {
    const std::byte* down;  // from where it comes down; null: it doesn't
    std::byte* up;          // to where it goes up; null: it doesn't
    std::size_t count;
    std::size_t begin = 0;  // where the elements are, counted as the parts' are
  };
  /// Which of the call's buffers has a block for each rank; alone: the other one has them as well.
  enum class Side : std::uint8_t { input, output, input_alone, output_alone };

  void list_blocks();
  void list_tensors(std::span<const Buffer> tensors);
  void add_blocks(Side side, std::span<const std::size_t> counts, std::size_t uniform);
  void set_step(std::size_t room);
  /// The first one of the block that the part has, or a later one has; all of them as well.
  std::size_t first(const Block& block, std::size_t part) const;
  std::size_t elements(const Block& block, std::size_t part) const {
    return first(block, part + 1) - first(block, part);
  }
  template <class Place>
  void list(std::size_t part, Place place, std::vector<device::Piece>& pieces) const;

  Rank rank_;
  int size_;
  Call call_{};
  std::size_t element_ = 1;  // bytes
  std::vector<Block> blocks_;
  std::size_t own_ = 0;   // this rank's block
  std::size_t step_ = 1;  // elements of each block in a part
  std::size_t parts_ = 0;
  std::vector<std::size_t> counts_;  // of the blocks in the part asked for last
};

}  // namespace rondo::engine
