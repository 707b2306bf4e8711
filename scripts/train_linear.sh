#!/usr/bin/env bash
# Installs what is missing, builds, and trains a linear model on N processes.
#
#   scripts/train_linear.sh [-np N] [options of train_linear…]
#
#   -np N    number of processes (default: as many as there are cores, at most 4)
#
# File names among the options are taken from where you are. The exit status is mpirun's.
# All options of train_linear: build/train_linear --help, once it is built.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/scripts/dependencies.sh"
source "$root/scripts/build.sh"

cores=$(nproc)
ranks=$((cores < 4 ? cores : 4))
options=()
while [[ $# -gt 0 ]]; do
  case $1 in
    -np | -n)
      ranks=${2:-}
      if ! [[ $ranks =~ ^[1-9][0-9]{0,4}$ ]]; then
        echo "rondo: $1 wants a number of processes, 1 or more, and got '$ranks'" >&2
        exit 2
      fi
      shift 2
      ;;
    *)
      options+=("$1")
      shift
      ;;
  esac
done
if [[ ${options[0]:-} == --help || ${options[0]:-} == -h ]]; then
  sed -n '2,9s/^# \{0,1\}//p' "$0"
  exit 0
fi

install_dependencies build
# A first build leaves out what wants more packages; a build folder that is there stays as it is.
configuration=()
[[ -e $root/build/build.ninja ]] ||
  configuration=(-DRONDO_BUILD_TESTS=OFF -DRONDO_BUILD_BENCHMARKS=OFF)
build_preset release train_linear "${configuration[@]}"
launch=()
launcher "$root/build" "$ranks"
echo "rondo: ${launch[*]} build/train_linear ${options[*]}" >&2
exec "${launch[@]}" "$root/build/train_linear" "${options[@]}"
