#!/usr/bin/env bash
# Installs what is missing, builds, and runs the whole test suite.
#
#   scripts/test.sh [--only PART[,PART…]] [--no-install]
#
# Parts, each in a build folder of its own:
#   release   everything, with the machine's default MPI                  build/
#   package   programs that use an installed, moved or nested Rondo       build/
#   mpich     the tests with MPI ranks, with MPICH                        build-mpich/
#   asan      all tests in one process, address and undefined-behaviour   build-asan/
#   tsan      the tests whose ranks are threads, thread sanitizer         build-tsan/
#
# Exits with 0 only if every part passed. A summary of ctest's own words comes last.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/scripts/dependencies.sh"
source "$root/scripts/build.sh"

all_parts=(release package mpich asan tsan)
parts=("${all_parts[@]}")
with_install=yes

usage_error() {
  echo "rondo: $1; see scripts/test.sh --help" >&2
  exit 2
}

while [[ $# -gt 0 ]]; do
  case $1 in
    -h | --help)
      sed -n '2,13s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
    --only)
      [[ -n ${2:-} ]] || usage_error "--only wants names of parts"
      IFS=, read -ra parts <<<"$2"
      shift 2
      ;;
    --no-install)
      with_install=no
      shift
      ;;
    *) usage_error "unknown option '$1'" ;;
  esac
done
for part in "${parts[@]}"; do
  [[ " ${all_parts[*]} " == *" $part "* ]] || usage_error "no part is called '$part'"
done

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

# run_tests PART PRESET TARGETS [ctest option…]: builds TARGETS, and runs the tests that the options
# choose.
run_tests() {
  local part=$1 preset=$2 targets=$3
  shift 3
  echo "── $part: building"
  local options=(-DRONDO_WERROR=ON)
  [[ $preset != release ]] || options+=(-DRONDO_BUILD_TESTS=ON -DRONDO_BUILD_BENCHMARKS=ON)
  build_preset "$preset" "$targets" "${options[@]}" || return 1
  echo "── $part: testing"
  (cd "$root" && ctest --preset "$preset" --parallel "$(nproc)" "$@") 2>&1 |
    tee "$logs/$part"
}

# Of these the tests start threads; the others only compute, and have nothing to race.
threaded=(device transport collectives engine train)
in_process=(core plans maths "${threaded[@]}")

# run_in_process PRESET LABEL…: the tests of some layers, and nothing else, with a sanitizer.
run_in_process() {
  local preset=$1
  shift
  run_tests "$preset" "$preset" "${*/#/tests_}" -L "^($(IFS='|' && echo "$*"))\$"
}

run_part() {
  case $1 in
    release) run_tests release release all -LE package ;;
    package) run_tests package release all -L package ;;
    mpich) run_tests mpich mpich tests_mpi -L mpi ;;
    asan) run_in_process asan "${in_process[@]}" ;;
    tsan) run_in_process tsan "${threaded[@]}" ;;
  esac
}

# What ctest said of a part, shortened to what one wants to know at the end.
summarize() {
  local part=$1 seconds=$2
  printf '%-8s %4d s  ' "$part" "$seconds"
  grep -h -E '^[0-9]+% tests passed' "$logs/$part" 2>/dev/null || echo "did not build or did not run"
  sed -n '/^The following tests FAILED/,/^Errors/{/^Errors/!p}' "$logs/$part" 2>/dev/null
}

[[ $with_install == no ]] || install_dependencies test

summary=()
status=0
for part in "${parts[@]}"; do
  started=$SECONDS
  run_part "$part" || status=1
  summary+=("$(summarize "$part" $((SECONDS - started)))")
done

echo
echo "── summary"
printf '%s\n' "${summary[@]}"
exit $status
