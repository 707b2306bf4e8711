#!/usr/bin/env bash
# Sourced by the other scripts, which set `root`: building a preset, and starting MPI jobs.

# The cache recognises the same file in another checkout, so paths must not count.
export CCACHE_BASEDIR=${root:?} CCACHE_NOHASHDIR=1
if command -v ccache >/dev/null; then
  export CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER-ccache}
fi

# build_preset PRESET "TARGET…" [cmake option…]: configures a preset and builds some of its targets.
build_preset() {
  local preset=$1 names
  read -ra names <<<"$2"
  shift 2
  (cd "$root" && cmake --preset "$preset" "$@" &&
    cmake --build --preset "$preset" --target "${names[@]}")
}

# launcher BUILD_DIR RANKS: sets the array `launch` to the command that starts RANKS processes with
# the MPI that BUILD_DIR was built with, also as root and on fewer cores.
launcher() {
  local mpiexec
  mpiexec=$(sed -n 's/^MPIEXEC_EXECUTABLE:[A-Z]*=//p' "$1/CMakeCache.txt")
  launch=("$mpiexec" -np "$2")
  if "$mpiexec" --version 2>/dev/null | grep -q "Open MPI\|OpenRTE"; then
    # Open MPI counts cores, not hardware threads, and refuses more ranks than those.
    launch+=(--oversubscribe)
    if [[ $(id -u) -eq 0 ]]; then
      export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    fi
  fi
}
