#include "collectives/symbolic_memory.hpp"

#include <algorithm>

namespace rondo::collectives {

namespace {

using State = Symbol::State;

void check_readable(const Symbol& symbol, Space space, Value value, const Contract& contract) {
  if (symbol.state == State::undefined) throw Fault{"reads what nobody has written"};
  if (space == Space::input && symbol.state != State::input)
    throw Fault{"reads an input that was overwritten"};
  if (space == Space::output && symbol.state == State::input)
    throw Fault{"reads the output before it was written"};
  const bool is_partial = symbol.state == State::partial || symbol.state == State::input;
  const bool is_finished =
      symbol.state == State::finished || (symbol.state == State::input && !contract.reduces());
  if (value == Value::partial && !is_partial) throw Fault{"takes a finished value for a partial"};
  if (value == Value::finished && !is_finished) throw Fault{"takes a partial value for a finished"};
}

}  // namespace

SymbolicMemory::SymbolicMemory(const Plan& plan, const Contract& contract, const Layout& layout,
                               bool in_place, Expressions& expressions)
    : contract_(contract),
      in_place_(in_place),
      promised_(layout.count()),
      output_(layout.count()),
      scratch_(scratch_layout(plan, layout).count()),
      finishes_(layout.count()) {
  if (!in_place) input_.resize(layout.count());
  std::vector<Symbol>& input = in_place ? output_ : input_;
  for (int block = 0; block < layout.blocks(); ++block)
    for (std::size_t at = layout.offset(block); at < layout.offset(block + 1); ++at) {
      promised_[at] = contract.promises(plan.rank(), block);
      if (contract.has_input(plan.rank(), block))
        input[at] = {State::input, at, expressions.leaf(plan.rank())};
    }
}

std::vector<Symbol> SymbolicMemory::read(const Extent& extent, Value value) const {
  std::vector<Symbol> symbols;
  for (std::size_t element = extent.begin; element < extent.end; ++element) {
    symbols.push_back(at(extent.space, element));
    check_readable(symbols.back(), extent.space, value, contract_);
  }
  return symbols;
}

void SymbolicMemory::write(const Extent& extent, const std::vector<Symbol>& symbols, Value value) {
  if (extent.space == Space::input) throw Fault{"writes the input"};
  const bool is_output = extent.space == Space::output;
  std::vector<Symbol>& memory = is_output ? output_ : scratch_;
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    const std::size_t element = extent.begin + i;
    if (is_output && value == Value::finished) {
      if (!promised_[element]) throw Fault{"finishes a block that this rank has no memory for"};
      ++finishes_[element];
    }
    memory[element] = symbols[i];
    memory[element].state = value == Value::finished ? State::finished : State::partial;
  }
}

const Symbol& SymbolicMemory::at(Space space, std::size_t element) const {
  if (space == Space::scratch) return scratch_[element];
  return space == Space::input && !in_place_ ? input_[element] : output_[element];
}

}  // namespace rondo::collectives
