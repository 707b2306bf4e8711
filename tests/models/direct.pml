/* The direct way within a node (src/collectives/node_direct): once all ranks have arrived, each reads
 * its slice of all ranks' inputs and writes it into all ranks' outputs; it returns, and its user may
 * do with his memory what he likes, when every rank has said that it is done.
 *
 * Proved: nobody reads an input or writes an output before its owner has arrived or after he has
 * left; who leaves has a whole output; nobody waits for ever.
 * FAULT lets a rank leave when it is done itself. */
#define RANKS 3
#define OPERATIONS 3

byte arrived[RANKS];
byte finished[RANKS];
byte input[RANKS];           /* the operation that it holds data of; 0: it is the user's */
byte output[RANKS * RANKS];  /* likewise, for each slice */
bool is_lent[RANKS];

#define wait_for_all(counter, value)                 \
  peer = 0;                                          \
  do                                                 \
  :: peer < RANKS -> counter[peer] >= value; peer++  \
  :: else -> break                                   \
  od

proctype rank_of_node(byte self) {
  byte k = 1;
  byte peer;
  do
  :: k <= OPERATIONS ->
     input[self] = k;
     is_lent[self] = true;
     arrived[self] = k;
     wait_for_all(arrived, k);
     peer = 0;
     do
     :: peer < RANKS ->
        assert(input[peer] == k);
        assert(is_lent[peer]);
        output[peer * RANKS + self] = k;
        peer++
     :: else -> break
     od;
     finished[self] = k;
#ifndef FAULT
     wait_for_all(finished, k);
#endif
     is_lent[self] = false;
     peer = 0;
     do
     :: peer < RANKS ->
        assert(output[self * RANKS + peer] == k);
        output[self * RANKS + peer] = 0;
        peer++
     :: else -> break
     od;
     input[self] = 0;
     k++
  :: else -> break
  od
}

init {
  byte rank = 0;
  atomic {
    do
    :: rank < RANKS -> run rank_of_node(rank); rank++
    :: else -> break
    od
  }
}
