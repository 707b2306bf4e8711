#pragma once

#include <cstddef>

namespace rondo::collectives {

/// Whether plain stores are slow here: by the time that copies take. Two slow ones in a row make
/// the next go past the caches; now and then one is plain again, to see whether that still holds.
class StoreChoice {
 public:
  /// Whether the next copy is to be plain, and timed.
  bool is_next_plain();
  /// What that one took.
  void time(std::size_t bytes, double seconds);

  bool stream() const { return stream_; }

 private:
  bool stream_ = false;
  int slow_ = 0;           // plain copies that were slow, one after another
  unsigned streamed_ = 0;  // copies since the last plain one
};

/// How a rank stores to memory that its peers have read before.
///
/// A store into a line that another core holds a copy of must first take that copy away. Where the
/// cores share a cache that takes some 9 ns a line, and plain stores are best; where they don't, it
/// takes 36 ns, and it is four times faster to store past the caches. Which of the two it is, only
/// the stores themselves tell (a virtual machine's processors move), so they are timed. It changes
/// no bit of any result.
class SharedStores {
 public:
  /// Copies to such memory.
  void copy(const void* source, void* target, std::size_t bytes);

  /// Whether the last stores went past the caches.
  bool stream() const { return choice_.stream(); }

 private:
  StoreChoice choice_;
};

}  // namespace rondo::collectives
