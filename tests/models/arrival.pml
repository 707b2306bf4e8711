/* The arrival line of a node (src/collectives/node_arrival): before operation k each rank writes what
 * it wants into its entry k % 2, then the count k; it leaves when every rank's count is there, having
 * read what they wrote. Two entries suffice: nobody comes to arrival k + 2 before all have left k.
 *
 * Proved: a rank reads what its peers wrote for this operation, and no other; nobody waits for ever.
 * FAULT makes one entry serve all operations. */
#define RANKS 3
#define OPERATIONS 5
#ifdef FAULT
#define ENTRIES 1
#else
#define ENTRIES 2
#endif
#define entry(rank, k) ((rank) * ENTRIES + (k) % ENTRIES)

byte payload[RANKS * ENTRIES];
byte count[RANKS * ENTRIES];

proctype rank_of_node(byte self) {
  byte k = 1;
  byte peer;
  do
  :: k <= OPERATIONS ->
     payload[entry(self, k)] = 0; /* half written */
     payload[entry(self, k)] = k;
     count[entry(self, k)] = k;
     peer = 0;
     do
     :: peer < RANKS ->
        count[entry(peer, k)] >= k; /* waits */
        assert(payload[entry(peer, k)] == k);
        peer++
     :: else -> break
     od;
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
