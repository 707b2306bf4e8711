#!/usr/bin/env bash
# Hosts on one machine, for tests and benchmarks across "nodes": each is a network namespace behind a
# bridge, with a link of a given rate and a host name of its own. Needs root and iproute2.
#
#   scripts/virtual_cluster.sh up   [options]             makes the hosts
#   scripts/virtual_cluster.sh run  [options] COMMAND…    starts COMMAND by mpirun on the hosts that are up
#   scripts/virtual_cluster.sh down [options]             removes them, and every process on them
#   scripts/virtual_cluster.sh with [options] COMMAND…    up, run and down, also when interrupted
#
#   --hosts N           hosts (up, with; default 4)
#   --rate RATE         of each link, in each direction, as tc writes it (up, with; default 1gbit)
#   --ranks-per-host R  (run, with; default 1)
#   --mpi NAME          openmpi or mpich, whose mpirun it is (run, with; default openmpi)
#   --id K              0 to 255, for several clusters at once (default 0)
#
# Options for mpirun itself may stand before COMMAND: run -- -x RONDO_LOG=info build/rondo-info
# Exit status: mpirun's; 77 where the machine has no iproute2, no root or no namespaces; 2 for bad usage.
set -euo pipefail

PATH+=:/usr/sbin:/sbin  # where ip and tc are, whether or not the user has it
readonly network=10.77.0 most_hosts=64

usage() { sed -n '2,18s/^# \{0,1\}//p' "$0"; }

# fail STATUS TEXT…
fail() {
  echo "virtual_cluster.sh: ${*:2}" >&2
  exit "$1"
}
bad_usage() { fail 2 "$*; see $0 --help"; }
impossible_here() { fail 77 "$*"; }

check_machine() {
  local program
  for program in ip tc; do
    command -v "$program" >/dev/null ||
      impossible_here "needs $program: install the package iproute2"
  done
  [[ $(id -u) -eq 0 ]] || impossible_here "needs root, to make network namespaces"
}

# The cluster's namespaces.
namespaces() { ip netns list | sed -n "s/^\($cluster-[^ ]*\).*/\1/p"; }

# The hosts that are up, by number.
hosts_up() { namespaces | sed -n "s/^$cluster-\([0-9]\+\)$/\1/p" | sort -n; }

# A small burst, since a large one flatters short messages. As network cards do, a link takes several
# packets from TCP at a time (but less than a burst, or tbf would cut them up): one by one they would
# cost more processor time than there is.
limit_rate() {
  ip -n "$1" link set "$2" gso_max_size 16384
  tc -n "$1" qdisc add dev "$2" root tbf rate "$rate" burst 32kb latency 50ms
}

# The bridge, in a namespace of its own so that the machine's own network stays as it is.
make_switch() {
  ip netns add "$switch" || impossible_here "this machine permits no network namespaces"
  ip -n "$switch" link add bridge type bridge
  ip -n "$switch" addr add "$network.254/24" dev bridge
  ip -n "$switch" link set bridge up
  ip -n "$switch" link set lo up
}

make_host() {
  local host=$cluster-$1 port=port$1
  ip netns add "$host"
  ip -n "$switch" link add "$port" type veth peer name eth0 netns "$host"
  ip -n "$switch" link set "$port" master bridge up
  ip -n "$host" addr add "$network.$1/24" dev eth0
  ip -n "$host" link set eth0 up
  ip -n "$host" link set lo up
  limit_rate "$switch" "$port"
  limit_rate "$host" eth0
}

up() {
  [[ -z $(namespaces) ]] ||
    bad_usage "cluster $id is up already: remove it with down, or take another --id"
  remove=yes
  make_switch
  local host
  for ((host = 1; host <= hosts; ++host)); do make_host "$host"; done
  [[ $action == with ]] || remove=no
}

down() {
  local name
  # With its last process a namespace takes its links with it.
  for name in $(namespaces); do
    ip netns pids "$name" | xargs --no-run-if-empty kill -KILL 2>/dev/null || true
    ip netns del "$name" || true
  done
}

# What mpirun starts its daemons with, instead of ssh: AGENT [option…] HOST COMMAND…
write_agent() {
  cat >"$1" <<AGENT
#!/usr/bin/env bash
while [[ \$1 == -* ]]; do shift; done
number=\${1##*.}
shift
exec ip netns exec "$cluster-\$number" unshare --uts bash -c "hostname host\$number; \$*"
AGENT
  chmod +x "$1"
}

# Puts the command line of the launcher into `launch`.
find_launcher() {
  local agent=$1 addresses=()
  mapfile -t addresses < <(hosts_up | sed "s/^/$network./")
  [[ ${#addresses[@]} -gt 0 ]] || bad_usage "no hosts are up: make them with $0 up"
  local ranks=$((${#addresses[@]} * ranks_per_host)) list
  printf -v list ",%s:$ranks_per_host" "${addresses[@]}"
  if [[ $mpi == openmpi ]]; then
    # Without --bind-to none every host's rank would be bound to core 0. Each host believes that all cores
    # are its own, and Open MPI must be told to yield them where there are too few.
    local yield=$((ranks > $(nproc) ? 1 : 0))
    # shellcheck disable=SC2054  # the commas are meant
    launch=(mpirun.openmpi --allow-run-as-root --host "${list:1}" -np "$ranks"
      --map-by "ppr:$ranks_per_host:node" --mca plm_rsh_agent "$agent"
      --mca pml ob1 --mca btl tcp,vader,self --mca btl_tcp_if_include "$network.0/24"
      --mca oob_tcp_if_include "$network.0/24"
      --bind-to none --mca mpi_yield_when_idle "$yield")
  else
    launch=(mpiexec.mpich -launcher rsh -launcher-exec "$agent" -localhost "$network.254"
      -hosts "${list:1}" -np "$ranks" -ppn "$ranks_per_host" -bind-to none)
  fi
}

run() {
  folder=$(mktemp -d)
  write_agent "$folder/agent"
  local launch=()
  find_launcher "$folder/agent"
  command -v "${launch[0]}" >/dev/null || bad_usage "${launch[0]} is not installed"
  # In the background, so that a signal to this script is not kept waiting.
  ip netns exec "$switch" "${launch[@]}" "$@" <&0 &
  job=$!
  wait "$job" || status=$?
  job=""
}

# Leaves nothing behind: no job, no files, and no hosts unless they were asked to stay.
clean_up() {
  if [[ -n $job ]]; then
    kill -TERM "$job" 2>/dev/null || true
    wait "$job" || true
  fi
  [[ -z $folder ]] || rm -rf "$folder"
  [[ $remove == no ]] || down
}

# whole_number OPTION VALUE LOWEST HIGHEST
whole_number() {
  [[ $2 =~ ^[0-9]{1,3}$ && $((10#$2)) -ge $3 && $((10#$2)) -le $4 ]] ||
    bad_usage "$1 wants a number from $3 to $4, and got '$2'"
}

action=${1:-}
case $action in
  up | run | down | with) ;;
  -h | --help) usage && exit 0 ;;
  *) usage >&2 && exit 2 ;;
esac
shift

hosts=4 rate=1gbit ranks_per_host=1 mpi=openmpi id=0
while [[ ${1:-} == --* ]]; do
  [[ $1 != --help ]] || { usage && exit 0; }
  [[ $1 != -- ]] || { shift && break; }
  [[ $# -ge 2 ]] || bad_usage "$1 wants a value"
  case $1 in
    --hosts) whole_number "$1" "$2" 1 "$most_hosts" && hosts=$2 ;;
    --rate) rate=$2 ;;
    --ranks-per-host) whole_number "$1" "$2" 1 512 && ranks_per_host=$2 ;;
    --mpi) [[ $2 == openmpi || $2 == mpich ]] || bad_usage "--mpi $2: there are openmpi and mpich"
      mpi=$2 ;;
    --id) whole_number "$1" "$2" 0 255 && id=$2 ;;
    *) bad_usage "no such option: $1" ;;
  esac
  shift 2
done
if [[ $action == run || $action == with ]]; then
  [[ $# -gt 0 ]] || bad_usage "$action wants a command"
else
  [[ $# -eq 0 ]] || bad_usage "$action wants no command"
fi
readonly cluster=rondo$id switch=rondo$id-switch

check_machine
status=0 folder="" job="" remove=no
trap clean_up EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
case $action in
  up) up ;;
  down) down ;;
  run) run "$@" ;;
  with)
    up
    run "$@"
    ;;
esac
exit "$status"
