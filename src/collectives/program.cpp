#include "collectives/program.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

namespace rondo::collectives {

bool reads_source(StepKind kind) { return kind != StepKind::receive; }
bool reads_target(StepKind kind) { return kind == StepKind::reduce; }
bool writes_target(StepKind kind) { return kind != StepKind::send; }

namespace {

/// Renumbers ranks and blocks for a root, splitting a range of blocks where it wraps around.
class Renumbering {
 public:
  Renumbering(const Plan& plan, const Binding& binding) : plan_(plan), binding_(binding) {}

  int block(int block) const {
    return binding_.rotate_blocks ? (block + binding_.root) % plan_.blocks() : block;
  }

  void append(const Step& step, std::vector<Step>& steps) const {
    Step moved = step;
    if (step.peer >= 0) moved.peer = (step.peer + binding_.root) % plan_.size();
    const int count = reads_source(step.kind) ? step.source.count : step.target.count;
    for (int done = 0; done < count;) {
      int part = count - done;
      if (reads_source(step.kind)) part = std::min(part, run(step.source, done));
      if (writes_target(step.kind)) part = std::min(part, run(step.target, done));
      moved.source = place(step.source, done, part);
      moved.target = place(step.target, done, part);
      steps.push_back(moved);
      done += part;
    }
  }

 private:
  bool rotates(const Place& place) const {
    return binding_.rotate_blocks && place.space != Space::scratch;
  }
  /// How many blocks, from the `done`-th on, stay consecutive after renumbering. Scratch blocks are
  /// cut where those that they stand for wrap around, so that both ends of a message cut it alike.
  int run(const Place& place, int done) const {
    if (!binding_.rotate_blocks) return std::numeric_limits<int>::max();
    const int first = place.first + done;
    const bool stands_for_another = place.space == Space::scratch;
    return plan_.blocks() - block(stands_for_another ? plan_.scratch()[first] : first);
  }
  Place place(const Place& place, int done, int count) const {
    const int first = place.first + done;
    return {place.space, rotates(place) ? block(first) : first, count};
  }

  const Plan& plan_;
  const Binding& binding_;
};

/// Puts a step that loads input blocks (converts and scales them) before the first step that reads
/// them as partial values, and lets that step read what was loaded.
class InputLoader {
 public:
  explicit InputLoader(int blocks) : loaded_(static_cast<std::size_t>(blocks), false) {}

  void append(Step step, std::vector<Step>& steps) {
    const bool is_load = step.kind == StepKind::copy;
    const bool reads_partial =
        step.kind == StepKind::finish ||
        (reads_source(step.kind) && step.value == Value::partial && !is_load);
    if (reads_partial && step.source.space == Space::input) {
      load(step.source, steps);
      step.source.space = Space::output;
    }
    steps.push_back(step);
  }

 private:
  void load(const Place& place, std::vector<Step>& steps) {
    for (int block = place.first; block < place.first + place.count; ++block) {
      if (loaded_[static_cast<std::size_t>(block)]) continue;
      loaded_[static_cast<std::size_t>(block)] = true;
      steps.push_back({.kind = StepKind::copy,
                       .value = Value::partial,
                       .source = {Space::input, block, 1},
                       .target = {Space::output, block, 1}});
    }
  }

  std::vector<bool> loaded_;
};

/// Who wrote each block last, and who has read it since.
class AccessHistory {
 public:
  AccessHistory(int blocks, int scratch_blocks, bool separate)
      : output_begin_(separate ? blocks : 0),
        scratch_begin_(output_begin_ + blocks),
        blocks_(static_cast<std::size_t>(scratch_begin_ + scratch_blocks)) {}

  void record_read(const Place& place, int step, bool target, std::vector<Dependency>& found) {
    for_each(place, [&](Block& block) {
      if (block.writer.step >= 0) depend(found, block.writer, target);
      block.readers.push_back({step, target});
    });
  }

  void record_write(const Place& place, int step, std::vector<Dependency>& found) {
    for_each(place, [&](Block& block) {
      if (block.writer.step >= 0) depend(found, block.writer, true);
      for (const Access& reader : block.readers)
        if (reader.step != step) depend(found, reader, true);
      block.readers.clear();
      block.writer = {step, true};
    });
  }

 private:
  struct Access {
    int step = -1;
    bool target = false;
  };
  struct Block {
    Access writer;
    std::vector<Access> readers;
  };

  template <class Visit>
  void for_each(const Place& place, Visit visit) {
    const int begin = place.space == Space::scratch  ? scratch_begin_
                      : place.space == Space::output ? output_begin_
                                                     : 0;
    for (int block = 0; block < place.count; ++block)
      visit(blocks_[static_cast<std::size_t>(begin + place.first + block)]);
  }

  static void depend(std::vector<Dependency>& found, const Access& earlier, bool target) {
    const auto same = [&](const Dependency& other) {
      return other.step == earlier.step && other.target == target &&
             other.earlier_target == earlier.target;
    };
    if (std::none_of(found.begin(), found.end(), same))
      found.push_back({earlier.step, target, earlier.target});
  }

  int output_begin_;
  int scratch_begin_;
  std::vector<Block> blocks_;
};

}  // namespace

Program::Program(const Plan& plan, const Binding& binding) : blocks_(plan.blocks()) {
  const Renumbering renumbering(plan, binding);
  std::vector<Step> renumbered;
  for (const Step& step : plan.steps()) renumbering.append(step, renumbered);
  for (const int like : plan.scratch()) scratch_.push_back(renumbering.block(like));

  InputLoader loader(blocks_);
  for (const Step& step : renumbered) {
    if (binding.load_inputs)
      loader.append(step, steps_);
    else
      steps_.push_back(step);
  }
  find_dependencies(binding.separate);
  sort_into_streams();
}

void Program::find_dependencies(bool separate) {
  AccessHistory history(blocks_, static_cast<int>(scratch_.size()), separate);
  std::vector<Dependency> found;
  dependency_begin_.push_back(0);
  for (int index = 0; index < std::ssize(steps_); ++index) {
    const Step& step = steps_[static_cast<std::size_t>(index)];
    found.clear();
    if (reads_source(step.kind)) history.record_read(step.source, index, false, found);
    if (reads_target(step.kind)) history.record_read(step.target, index, true, found);
    if (writes_target(step.kind)) history.record_write(step.target, index, found);
    dependencies_.insert(dependencies_.end(), found.begin(), found.end());
    dependency_begin_.push_back(dependencies_.size());
  }
}

void Program::sort_into_streams() {
  for (int index = 0; index < std::ssize(steps_); ++index) {
    const Step& step = steps_[static_cast<std::size_t>(index)];
    if (step.peer < 0) {
      local_steps_.push_back(index);
      continue;
    }
    const bool sending = step.kind == StepKind::send;
    const auto same = [&](const Stream& stream) {
      return stream.sending == sending && stream.peer == step.peer &&
             stream.channel == step.channel;
    };
    auto stream = std::find_if(streams_.begin(), streams_.end(), same);
    if (stream == streams_.end())
      stream = streams_.insert(streams_.end(), Stream{sending, step.peer, step.channel, {}, false});
    stream->steps.push_back(index);
    if (step.kind == StepKind::receive_reduce) stream->reduces = true;
  }
}

}  // namespace rondo::collectives
