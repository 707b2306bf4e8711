#!/usr/bin/env bash
# Hosts on one machine, for tests and benchmarks across "nodes": each is a network namespace behind a
# bridge, with a link of a given rate and a host name of its own. Needs root, iproute2 and Open MPI.
#
#   scripts/virtual_cluster.sh up   [--hosts N] [--rate RATE]    makes N hosts (4, links of 1gbit)
#   scripts/virtual_cluster.sh run  [--ranks-per-host R] COMMAND…    mpirun over all of them
#   scripts/virtual_cluster.sh down                              removes everything
#   scripts/virtual_cluster.sh with [--hosts N] [--rate RATE] [--ranks-per-host R] COMMAND…
#                                                                up, run and down, also if interrupted
set -euo pipefail

readonly prefix=rondo                # of namespaces and links
readonly bridge=rondobr0
readonly network=10.77.0             # hosts are $network.1, .2, …; the bridge is .254
readonly most_hosts=64

usage() { sed -n '2,10s/^# \{0,1\}//p' "$0"; }

fail() {
  echo "virtual_cluster.sh: $*" >&2
  exit 1
}

# The hosts that are there, by number.
hosts_up() { ip netns list 2>/dev/null | sed -n "s/^$prefix\([0-9]\+\).*/\1/p" | sort -n; }

check_machine() {
  command -v ip >/dev/null && command -v tc >/dev/null ||
    fail "needs ip and tc; install the package iproute2"
  [[ $(id -u) -eq 0 ]] || fail "needs root, to make network namespaces"
  ip netns list >/dev/null 2>&1 || fail "this machine permits no network namespaces"
}

# The rate of a link in one direction: a small burst, since a large one flatters short messages.
limit_rate() { tc qdisc add dev "$1" root tbf rate "$rate" burst 32kb latency 50ms; }

make_host() {
  local host=$1 name=$prefix$1
  ip netns add "$name"
  ip link add "$name" type veth peer name eth0 netns "$name"
  ip link set "$name" master "$bridge" up
  ip -n "$name" link set lo up
  ip -n "$name" addr add "$network.$host/24" dev eth0
  ip -n "$name" link set eth0 up
  limit_rate "$name"
  ip netns exec "$name" tc qdisc add dev eth0 root tbf rate "$rate" burst 32kb latency 50ms
}

up() {
  [[ -z $(hosts_up) ]] || fail "hosts are up already; remove them with: $0 down"
  trap 'down; fail "could not make the hosts; is everything permitted here?"' ERR
  ip link add "$bridge" type bridge
  ip addr add "$network.254/24" dev "$bridge"
  ip link set "$bridge" up
  local host
  for ((host = 1; host <= hosts; ++host)); do make_host "$host"; done
  trap - ERR
}

down() {
  local host
  for host in $(hosts_up); do
    ip netns pids "$prefix$host" 2>/dev/null | xargs -r kill -9 2>/dev/null || true
    ip link del "$prefix$host" 2>/dev/null || true
    ip netns del "$prefix$host" || true
  done
  ip link del "$bridge" 2>/dev/null || true
}

# mpirun starts its daemons through this instead of ssh: in the host's namespace, under its name.
write_agent() {
  cat >"$1" <<'AGENT'
#!/usr/bin/env bash
host=$1
shift
exec ip netns exec "rondo${host##*.}" unshare --uts bash -c "hostname host${host##*.}; $*"
AGENT
  chmod +x "$1"
}

run() {
  [[ -n $(hosts_up) ]] || fail "no hosts are up; make them with: $0 up"
  [[ $# -gt 0 ]] || fail "run what? $0 run [--ranks-per-host R] COMMAND…"
  local folder list="" host count=0
  folder=$(mktemp -d)
  # shellcheck disable=SC2064  # the folder as it is now
  trap "rm -rf '$folder'" RETURN
  write_agent "$folder/agent"
  for host in $(hosts_up); do
    list+="${list:+,}$network.$host:$ranks_per_host"
    count=$((count + ranks_per_host))
  done
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
    mpirun --host "$list" -np "$count" --bind-to none \
    --mca plm_rsh_agent "$folder/agent" --mca btl tcp,vader,self --mca pml ob1 \
    --mca btl_tcp_if_include "$network.0/24" --mca oob_tcp_if_include "$network.0/24" \
    --mca mpi_yield_when_idle 1 --map-by "ppr:$ranks_per_host:node" "$@"
}

[[ $# -gt 0 ]] || { usage; exit 2; }
action=$1
shift
hosts=4 rate=1gbit ranks_per_host=1
while [[ ${1:-} == --* ]]; do
  case $1 in
    --hosts) hosts=${2:-} ;;
    --rate) rate=${2:-} ;;
    --ranks-per-host) ranks_per_host=${2:-} ;;
    *) fail "no such option: $1" ;;
  esac
  [[ -n ${2:-} ]] || fail "$1 needs a value"
  shift 2
done
[[ $hosts =~ ^[0-9]+$ && $hosts -ge 1 && $hosts -le $most_hosts ]] ||
  fail "--hosts $hosts: must be 1 to $most_hosts"
[[ $ranks_per_host =~ ^[0-9]+$ && $ranks_per_host -ge 1 ]] ||
  fail "--ranks-per-host $ranks_per_host: must be a number of ranks"

case $action in
  up) check_machine; up ;;
  down) check_machine; down ;;
  run) check_machine; run "$@" ;;
  with)
    check_machine
    trap down EXIT
    trap 'exit 130' INT TERM
    up
    run "$@"
    ;;
  help | -h | --help) usage ;;
  *) fail "no such action: $action; there are up, run, down and with" ;;
esac
