#!/usr/bin/env bash
# Fails when a source file is not formatted as .clang-format says.
#
#   scripts/check_format.sh [--fix]      --fix formats instead
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

mode=(--dry-run -Werror)
[[ ${1:-} != --fix ]] || mode=(-i)
find include src cuda tools examples bench tests -name '*.[ch]pp' -print0 |
  xargs -0 clang-format --style=file "${mode[@]}"
