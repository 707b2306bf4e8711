#!/usr/bin/env bash
# The Debian 12 packages that Rondo needs, and how to get them: the only list there is.
#
#   scripts/dependencies.sh [build|test]      installs what is missing (default: test, which is all)
#   source scripts/dependencies.sh            then: install_dependencies build|test
set -euo pipefail

# To build and run the library, the tools and the examples.
build_packages=(
  g++             # C++20 compiler
  cmake           # 3.25
  ninja-build
  pkg-config      # finds Highway and OpenBLAS
  libopenmpi-dev  # MPI: headers and libraries
  openmpi-bin     # mpirun
  libhwy-dev      # SIMD kernels with run-time dispatch
  libopenblas-dev # host matrix products
  libfmt-dev
  nlohmann-json3-dev
  libcli11-dev
  zlib1g-dev
)

# To run the whole test suite and the checks besides.
test_packages=(
  libmpich-dev # the other MPI that the tests run with
  mpich
  libgloo-dev  # a peer in the benchmarks
  libgtest-dev
  libbenchmark-dev
  librapidcheck-dev
  ccache       # five builds of the same sources
  iproute2     # hosts as network namespaces
  python3      # the layer check, and tests that start jobs
  python3-matplotlib
  spin         # checks the models of what ranks tell through shared memory
  clang-format
  clang-tidy
)

# Packages among the arguments that are not installed, one a line.
missing_packages() {
  local package
  for package in "$@"; do
    dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed ||
      echo "$package"
  done
}

# Puts the way to become root into the array `as_root`; fails when there is none.
find_root() {
  as_root=()
  [[ $(id -u) -eq 0 ]] && return 0
  command -v sudo >/dev/null || return 1
  as_root=(sudo)
  # Without a terminal sudo cannot ask for a password, so it must not need one.
  [[ -t 0 ]] || sudo -n true 2>/dev/null
}

# install_dependencies build|test: installs the missing packages of that set, as root or with sudo.
install_dependencies() {
  local wanted=("${build_packages[@]}")
  [[ ${1:-test} == build ]] || wanted+=("${test_packages[@]}")
  if ! command -v apt-get >/dev/null; then
    echo "rondo: no apt-get here, so nothing is installed; these must be present under the names" \
      "that your system gives them: ${wanted[*]}" >&2
    return 0
  fi
  local missing
  mapfile -t missing < <(missing_packages "${wanted[@]}")
  [[ ${#missing[@]} -gt 0 ]] || return 0

  local as_root install=(apt-get install --yes --no-install-recommends "${missing[@]}")
  if ! find_root; then
    echo "rondo: packages are missing, and installing them needs root. As root, run:" >&2
    echo "  apt-get update && ${install[*]}" >&2
    return 1
  fi
  echo "rondo: installing what is missing to build and run (${1:-test}): ${missing[*]}" >&2
  # A fresh machine has no package lists, or lists too old to download from.
  "${as_root[@]}" apt-get update >&2
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive "${install[@]}" >&2
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
  case ${1:-test} in
    build | test) install_dependencies "${1:-test}" ;;
    *)
      sed -n '2,5s/^# \{0,1\}//p' "$0"
      [[ $1 == --help || $1 == -h ]] || exit 2
      ;;
  esac
fi
