#!/usr/bin/env python3
"""Runs scripts/gpu_check.sh with stubs in place of the compiler, the GPU and the programs that it builds.

usage: gpu_check_test.py GPU_CHECK"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

GPU_CHECK = ""
KERNELS = {"benchmarks": [{"name": "copy/device/1048576/real_time", "bytes_per_second": 4e12},
                          {"name": "reduce/float32/2/1048576/real_time", "bytes_per_second": 3e12}]}
ROW = {"impl": "rondo", "dtype": "float32", "bytes": 8, "ranks": 2, "algorithm": "staged", "time_us": {"p50": 9.5},
       "busbw_gbs": 1.5, "wrong": 0}
# Writes $1 to the file that an option names: --json FILE or --benchmark_out=FILE.
WRITE_JSON = """while [ $# -gt 0 ]; do
  case $1 in --json) out=$2 ;; --benchmark_out=*) out=${1#*=} ;; esac
  shift
done
echo '%s' >"$out"
"""


class GpuCheck(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.bin, self.build = self.folder / "bin", self.folder / "build"
        (self.build / "tests").mkdir(parents=True)
        self.bin.mkdir()
        self.stub(self.bin / "nvidia-smi", 'echo "NVIDIA Stub, 1.0, 1 MiB"')
        for name in ("nvcc", "ctest", "compute-sanitizer"):
            self.stub(self.bin / name)
        self.stub(self.bin / "mpiexec", 'while [ "${1#-}" != "$1" ] || [ "$1" -gt 0 ] 2>/dev/null; do shift; done; "$@"')
        self.stub(self.bin / "cmake", f"echo MPIEXEC_EXECUTABLE:FILEPATH={self.bin}/mpiexec >{self.build}/CMakeCache.txt")
        for name in ("test_device", "test_train_devices"):
            self.stub(self.build / "tests" / name)
        self.stub(self.build / "device_bench", WRITE_JSON % json.dumps(KERNELS))
        self.stub(self.build / "allreduce_bench", WRITE_JSON % json.dumps({"rows": [ROW]}))

    def stub(self, path, script="exit 0"):
        path.write_text("#!/bin/sh\n" + script + "\n")
        path.chmod(0o755)

    def check(self, *options):
        return subprocess.run([GPU_CHECK, "--build", str(self.build), *options], capture_output=True, text=True,
                              timeout=60, check=False, env={**os.environ, "PATH": f"{self.bin}:/usr/bin:/bin"})

    def report(self):
        return json.loads((self.build / "gpu_check.json").read_text())

    def test_all_steps_make_one_table_and_one_file(self):
        result = self.check()
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        report = self.report()
        self.assertEqual(report["gpus"], ["NVIDIA Stub, 1.0, 1 MiB"])
        names = [step["name"] for step in report["steps"]]
        self.assertEqual(names[:5], ["build", "tests", "sanitizer.test_device", "sanitizer.test_train_devices", "kernels"])
        self.assertEqual(names[-2:], ["times.2", "times.4"])
        self.assertIn("allgather.4", names)
        self.assertEqual(report["times"], [ROW, ROW])
        table = (self.build / "gpu_check.txt").read_text()
        self.assertRegex(table, r"reduce/float32/2/1048576 +3000.0 +75%")
        self.assertRegex(table, r"rondo, float32, 8 B +2 +staged +9.5")
        self.assertIn(table, result.stdout)

    def test_a_failed_step_fails_it_and_the_others_run(self):
        self.stub(self.bin / "ctest", "echo the third test failed; exit 8")
        result = self.check()
        self.assertEqual(result.returncode, 1)
        self.assertIn("the third test failed", result.stdout)
        self.assertRegex(result.stdout, r"tests +\d+ +FAILED with 8: see .*tests.log")
        self.assertEqual(len(self.report()["times"]), 2)

    def test_what_does_not_build_is_not_run(self):
        self.stub(self.bin / "cmake", "echo no such compiler; exit 1")
        result = self.check("-DCMAKE_PREFIX_PATH=/opt")
        self.assertEqual(result.returncode, 1)
        self.assertIn("no such compiler", result.stdout)
        self.assertEqual([step["name"] for step in self.report()["steps"]], ["build"])

    def test_without_a_gpu_it_says_so(self):
        self.stub(self.bin / "nvidia-smi", "exit 9")
        result = self.check()
        self.assertEqual((result.returncode, result.stderr), (77, "gpu_check: nvidia-smi shows no GPU here\n"))

    def test_bad_usage(self):
        for options in (["--nonsense"], ["--output"]):
            result = self.check(*options)
            self.assertEqual(result.returncode, 2)
            self.assertIn(options[0], result.stderr)


if __name__ == "__main__":
    GPU_CHECK = sys.argv[1]
    unittest.main(argv=[sys.argv[0]])
