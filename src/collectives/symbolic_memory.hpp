#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "collectives/contract.hpp"
#include "collectives/expressions.hpp"
#include "collectives/pieces.hpp"
#include "collectives/plan.hpp"

namespace rondo::collectives {

/// Why a plan is wrong.
struct Fault {
  std::string what;
};

/// What stands for the value of one element.
struct Symbol {
  enum class State : unsigned char { undefined, input, partial, finished };
  State state = State::undefined;
  std::size_t element = 0;  ///< of the layout: whose contributions are in it
  Expressions::Id expression = -1;
};

/// The memory of one rank, holding symbols. Throws Fault when it is misused.
class SymbolicMemory {
 public:
  SymbolicMemory(const Plan& plan, const Contract& contract, const Layout& layout, bool in_place,
                 Expressions& expressions);

  std::vector<Symbol> read(const Extent& extent, Value value) const;
  void write(const Extent& extent, const std::vector<Symbol>& symbols, Value value);

  const Symbol& output(std::size_t element) const { return output_[element]; }
  /// How often this output element was given a finished value.
  int times_finished(std::size_t element) const { return finishes_[element]; }

 private:
  const Symbol& at(Space space, std::size_t element) const;

  Contract contract_;
  bool in_place_;
  std::vector<bool> promised_;  // output elements that may be finished
  std::vector<Symbol> input_;   // empty when in place
  std::vector<Symbol> output_;
  std::vector<Symbol> scratch_;
  std::vector<int> finishes_;
};

}  // namespace rondo::collectives
