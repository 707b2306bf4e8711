#pragma once

#include <vector>

#include "collectives/plan.hpp"

namespace rondo::collectives {

/// How m = 2^p + r members of a butterfly become 2^p *cores*: of the first 2r members, each odd one
/// is *extra* and gives its value to its even neighbour, its *stand-in*, before the exchanges, and
/// gets the result from it afterwards.
///
///   m = 5:   member  0 1 2 3 4        After the exchange at distance d every core has, of the part
///                    |/  | | |        it still works on, the reduction of its group of 2d cores;
///            core    0   1 2 3        the lower group is the left operand.
///
/// Distance 1 comes first, so the value is the same with and without halving, and the part of the
/// blocks that a core is left with by halving is a range.
class Cores {
 public:
  explicit Cores(int members);

  int steps() const { return steps_; }  ///< p
  int count() const { return 1 << steps_; }
  bool is_extra(int member) const { return member < 2 * extras_ && member % 2 == 1; }
  /// The core that a member is, or whose stand-in it has.
  int core_of(int member) const { return member < 2 * extras_ ? member / 2 : member - extras_; }
  /// The member that is a core.
  int member_of(int core) const { return core < extras_ ? 2 * core : core + extras_; }
  bool has_extra(int core) const { return core < extras_; }

  struct Range {
    int first;
    int count;
  };
  /// What core `core` still works on after `steps` halvings of a range.
  Range part(const Range& whole, int core, int steps) const;
  /// The core that is left with a block of the range after all halvings.
  int core_left_with(const Range& whole, int block) const;

 private:
  int steps_;
  int extras_;  // r
};

/// What one rank does when several reduce a range of blocks together, as cores.
class Team {
 public:
  /// `members` in the order of the value; plan.rank() is one of them. To be halved, the range must
  /// have at least as many blocks as there are cores.
  Team(Plan& plan, std::vector<Rank> members, const Cores::Range& blocks);

  /// The extra members give their values away.
  void fold_in();
  /// Every core gets the reduction of all blocks. Steps p, bytes p·M.
  ///
  /// With a width w > 1, up to w exchanges become one step among 2^w cores, in which each sends to
  /// all others at once: ⌈p/w⌉ steps, each of up to 2^w - 1 messages. The value is the same to the
  /// last bit.
  void double_up(int width = 1);
  /// Every core gets the reduction of its part. Steps p, bytes (1 - 1/2^p)·M.
  void halve();
  /// Every core's part is finished and given to all cores. Steps p, bytes (1 - 1/2^p)·M.
  void collect();
  /// The extra members get the finished blocks from their stand-ins.
  void fold_out();

 private:
  /// One step: the distances from 2^begin to below 2^end.
  struct Stage {
    int begin;
    int end;
    int partners() const { return (1 << (end - begin)) - 1; }
  };
  std::vector<Stage> stages(int width) const;
  /// The core that is `which` (1 to partners()) away within a step.
  int partner(const Stage& stage, int which) const { return core_ ^ (which << stage.begin); }
  void absorb(const Stage& stage, int which, int span, const Place& target);
  void receive(Rank peer, const Place& target);

  Rank core_rank(int core) const;

  Plan& plan_;
  std::vector<Rank> members_;
  Cores::Range blocks_;
  Cores cores_;
  int member_;  // this rank among the members
  int core_;
  bool is_extra_;
};

}  // namespace rondo::collectives
