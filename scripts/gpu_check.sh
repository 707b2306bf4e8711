#!/usr/bin/env bash
# Checks and measures Rondo on a machine with at least one NVIDIA GPU and CUDA 12 or 13.
#
#   scripts/gpu_check.sh [--build DIR] [--output DIR] [cmake option…]
#
# Builds in DIR (build-gpu/), with what the machine has: nothing is installed, no network is used
# (-DCMAKE_PREFIX_PATH=… names where else dependencies lie). Then, each step whatever became of the
# others:
#   tests            those labelled gpu; train_digits beside the host's losses is one
#   sanitizer        the tests of kernels and layers under compute-sanitizer
#   kernels          device_bench: copies and reductions
#   collectives      allreduce_bench on the device, checked to the last element: every collective
#                    with 1, 2 and 4 ranks, all types and operations; then times beside MPI's
#
# Writes gpu_check.json, with all figures, and gpu_check.txt, a table, into --output (build DIR), and
# prints the table. Exits with 0 only if every step passed; 77 where there is no GPU or no nvcc.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/scripts/build.sh"

build=$root/build-gpu output=""
while [[ $# -gt 0 ]]; do
  case $1 in
    -h | --help)
      sed -n '2,17s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
    --build | --output)
      [[ -n ${2:-} ]] || { echo "gpu_check: $1 wants a folder" >&2; exit 2; }
      printf -v "${1#--}" %s "$2"
      shift 2
      ;;
    -D*) break ;;
    *)
      echo "gpu_check: unknown option '$1'; see scripts/gpu_check.sh --help" >&2
      exit 2
      ;;
  esac
done
output=${output:-$build}

nvidia-smi -L 2>/dev/null | grep -q . || { echo "gpu_check: nvidia-smi shows no GPU here" >&2; exit 77; }
command -v nvcc >/dev/null || export PATH=$PATH:/usr/local/cuda/bin
command -v nvcc >/dev/null || { echo "gpu_check: there is no nvcc on PATH or in /usr/local/cuda" >&2; exit 77; }

mkdir -p "$build" "$output" || exit
logs=$output/logs
rm -rf "$logs" && mkdir -p "$logs" || exit
steps=$logs/steps.txt

# step NAME COMMAND…: runs it, keeps what it prints, and notes how it ended.
step() {
  local name=$1 started=$SECONDS status=0
  shift
  echo "── $name: $*"
  "$@" >"$logs/$name.log" 2>&1 || status=$?
  [[ $status -eq 0 ]] || tail -n 20 "$logs/$name.log"
  echo "$name $status $((SECONDS - started))" >>"$steps"
  return $status
}

configure_and_build() {
  cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DRONDO_CUDA=ON \
    -DRONDO_BUILD_TESTS=ON -DRONDO_BUILD_BENCHMARKS=ON "$@" &&
    cmake --build "$build"
}

# bench NAME RANKS option…: a run of allreduce_bench on the device.
bench() {
  local name=$1 ranks=$2
  shift 2
  launcher "$build" "$ranks"
  step "$name" "${launch[@]}" "$build/allreduce_bench" --device cuda --json "$logs/$name.json" "$@"
}

if step build configure_and_build "$@"; then
  step tests ctest --test-dir "$build" -L gpu --output-on-failure --no-tests=error
  if sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null); then
    for program in test_device test_train_devices; do
      step "sanitizer.$program" "$sanitizer" --error-exitcode 1 "$build/tests/$program" --gtest_filter='Cuda/*'
    done
  else
    echo "── sanitizer: there is no compute-sanitizer here"
    echo "sanitizer 127 0" >>"$steps"
  fi
  step kernels "$build/device_bench" --benchmark_out="$logs/kernels.json" --benchmark_out_format=json
  for ranks in 1 2 4; do
    for collective in allreduce reduce broadcast reduce_scatter allgather; do
      bench "$collective.$ranks" $ranks --collective $collective --impl rondo --iterations 3 --min 4K \
        --max 1M --factor 16 --dtype i8,u8,i32,u32,i64,u64,f16,bf16,f32,f64 --op sum,prod,min,max,avg
    done
  done
  for ranks in 2 4; do
    bench "times.$ranks" $ranks --impl rondo,mpi --dtype f32,bf16 --factor 8 --max 64M
  done
fi

python3 "$root/scripts/gpu_report.py" "$logs" "$output/gpu_check.json" | tee "$output/gpu_check.txt"
exit "${PIPESTATUS[0]}"
