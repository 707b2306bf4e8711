#include "support/covering_array.hpp"

#include <cstddef>
#include <optional>

namespace rondo::testing {

namespace {

constexpr int kUnset = -1;

class Generator {
 public:
  Generator(const std::vector<int>& sizes, const PairAllowed& allowed)
      : sizes_(sizes), allowed_(allowed) {
    for (const int size : sizes) {
      first_.push_back(values_);
      values_ += size;
    }
    wanted_.resize(static_cast<std::size_t>(values_) * values_);
    for_each_pair([&](int f, int a, int g, int b) { wanted(f, a, g, b) = allowed_(f, a, g, b); });
  }

  std::vector<Row> rows() {
    std::vector<Row> rows;
    for_each_pair([&](int f, int a, int g, int b) {
      if (!wanted(f, a, g, b)) return;
      if (const std::optional<Row> row = complete(f, a, g, b, rows.size())) {
        mark(*row);
        rows.push_back(*row);
      }
    });
    return rows;
  }

 private:
  int factors() const { return static_cast<int>(sizes_.size()); }

  template <class Body>
  void for_each_pair(Body body) {
    for (int f = 0; f < factors(); ++f)
      for (int a = 0; a < sizes_[f]; ++a)
        for (int g = f + 1; g < factors(); ++g)
          for (int b = 0; b < sizes_[g]; ++b) body(f, a, g, b);
  }

  std::vector<bool>::reference wanted(int f, int a, int g, int b) {
    if (f > g) return wanted(g, b, f, a);
    return wanted_[static_cast<std::size_t>(first_[f] + a) * values_ + first_[g] + b];
  }

  bool goes_with(const Row& row, int f, int a) const {
    for (int g = 0; g < factors(); ++g) {
      if (g == f || row[g] == kUnset) continue;
      if (!(f < g ? allowed_(f, a, g, row[g]) : allowed_(g, row[g], f, a))) return false;
    }
    return true;
  }

  /// The value of factor f that covers most wanted pairs; `turn` breaks ties differently each time.
  int best_value(const Row& row, int f, std::size_t turn) {
    int best = kUnset;
    int best_gain = -1;
    for (int i = 0; i < sizes_[f]; ++i) {
      const int a = static_cast<int>((i + turn) % sizes_[f]);
      if (!goes_with(row, f, a)) continue;
      int gain = 0;
      for (int g = 0; g < factors(); ++g)
        if (row[g] != kUnset) gain += wanted(f, a, g, row[g]);
      if (gain > best_gain) {
        best = a;
        best_gain = gain;
      }
    }
    return best;
  }

  std::optional<Row> complete(int f, int a, int g, int b, std::size_t turn) {
    Row row(sizes_.size(), kUnset);
    row[f] = a;
    row[g] = b;
    for (int h = 0; h < factors(); ++h) {
      if (row[h] != kUnset) continue;
      row[h] = best_value(row, h, turn);
      if (row[h] == kUnset) return {};
    }
    return row;
  }

  void mark(const Row& row) {
    for (int f = 0; f < factors(); ++f)
      for (int g = f + 1; g < factors(); ++g) wanted(f, row[f], g, row[g]) = false;
  }

  const std::vector<int>& sizes_;
  const PairAllowed& allowed_;
  std::vector<int> first_;  // number of a factor's first value, counting all factors' values
  int values_ = 0;
  std::vector<bool> wanted_;
};

}  // namespace

std::vector<Row> covering_array(const std::vector<int>& sizes, const PairAllowed& allowed) {
  return Generator(sizes, allowed).rows();
}

}  // namespace rondo::testing
