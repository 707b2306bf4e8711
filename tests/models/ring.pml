/* The ring of stages through which ranks of a node copy (src/collectives/node_copying): each rank
 * stages its part of the others' slices, reduces its own slice of all stages into its result, and
 * fetches the others' results, piece by piece. Piece k uses the entries k % STAGES; three counters,
 * which go on from operation to operation, tell how far a rank is.
 *
 * Here a rank does any of its steps that it may, in any order; the program's order is one of those.
 * An operation is one of three kinds, drawn for all ranks:
 *   all-reduce      has all three steps
 *   broadcast       has nothing to stage, and says at its start that all is staged
 *   reduce-scatter  has no results to fetch, and says at its start that all is fetched
 *
 * Proved: every step reads the piece that it is about, fully written; nobody waits for ever.
 * With RANKS=3 the search takes a dozen seconds more; it found nothing either.
 * FAULT lets a rank stage a piece without a look at whether the others have read the entry's last
 * one; FAULT_RESULT the same of its results. */
#ifndef RANKS
#define RANKS 2
#endif
#define STAGES 2
#define PIECES 3
#define OPERATIONS 2

mtype = { allreduce, broadcast, reduce_scatter };
mtype kind[OPERATIONS];

byte stage[RANKS * STAGES];
byte result[RANKS * STAGES];
byte staged[RANKS];
byte reduced[RANKS];
byte fetched[RANKS];

#define entry(rank, piece) ((rank) * STAGES + (piece) % STAGES)
#define is_reducing (kind[operation] != broadcast)
#define is_exchanged (kind[operation] != reduce_scatter)

/* Whether all others are through with so many pieces, which may be fewer than none. */
#if RANKS == 2
#define others_have(counter, pieces) (counter[1 - self] >= pieces)
#else
#define others_have(counter, pieces) \
  (counter[(self + 1) % 3] >= pieces && counter[(self + 2) % 3] >= pieces)
#endif
#define others_have_left(counter, piece) \
  ((piece) < STAGES || others_have(counter, (piece) + 1 - STAGES))

#ifdef FAULT
#define may_stage true
#else
#define may_stage others_have_left(reduced, staged[self])
#endif
#ifdef FAULT_RESULT
#define may_take_result true
#else
#define may_take_result others_have_left(fetched, reduced[self])
#endif
#define may_reduce                                             \
  (!is_reducing || others_have(staged, reduced[self] + 1)) && \
      (!is_exchanged || may_take_result)

/* Every piece has a number of its own, over all operations; 0 is half written. */
#define write(ring, piece)         \
  ring[entry(self, piece)] = 0;    \
  ring[entry(self, piece)] = piece + 1

#define read_all(ring, piece)                        \
  peer = 0;                                          \
  do                                                 \
  :: peer < RANKS && peer != self ->                 \
     assert(ring[entry(peer, piece)] == piece + 1);  \
     peer++                                          \
  :: peer == self -> peer++                          \
  :: peer == RANKS -> break                          \
  od

inline stage_piece() {
  write(stage, staged[self]);
  staged[self]++
}

inline reduce_piece() {
  if
  :: is_reducing -> read_all(stage, reduced[self])
  :: else
  fi;
  if
  :: is_exchanged -> write(result, reduced[self])
  :: else
  fi;
  reduced[self]++
}

inline fetch_piece() {
  read_all(result, fetched[self]);
  fetched[self]++
}

proctype rank_of_node(byte self) {
  byte operation = 0;
  byte end = PIECES; /* of this operation's pieces */
  byte peer;
  do
  :: operation < OPERATIONS ->
     if
     :: !is_reducing -> staged[self] = end
     :: else
     fi;
     if
     :: !is_exchanged -> fetched[self] = end
     :: else
     fi;
     do
     :: staged[self] < end && may_stage -> stage_piece()
     :: reduced[self] < staged[self] && may_reduce -> reduce_piece()
     :: fetched[self] < reduced[self] && others_have(reduced, fetched[self] + 1) -> fetch_piece()
     :: staged[self] == end && reduced[self] == end && fetched[self] == end -> break
     od;
     operation++;
     end = end + PIECES
  :: else -> break
  od
}

init {
  byte i = 0;
  do
  :: i < OPERATIONS ->
     if
     :: kind[i] = allreduce
     :: kind[i] = broadcast
     :: kind[i] = reduce_scatter
     fi;
     i++
  :: else -> break
  od;
  i = 0;
  atomic {
    do
    :: i < RANKS -> run rank_of_node(i); i++
    :: else -> break
    od
  }
}
