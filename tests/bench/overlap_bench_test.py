#!/usr/bin/env python3
"""Runs overlap_bench as its users do, and checks what it prints, writes and returns.

usage: overlap_bench_test.py PROGRAM FAULTY_MPI LAUNCHER...
where LAUNCHER starts a job when "-n N PROGRAM" is added to it."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = FAULTY_MPI = ""
LAUNCHER = []
SMALL = ["--layers", "5", "--layer-bytes", "64K", "--edge-bytes", "4K", "--bucket-bytes", "100K", "--steps", "3"]
IMPLS = ["rondo", "each", "all", "iallreduce", "iallreduce:4"]


class OverlapBench(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "rows.json"

    def run_bench(self, *arguments, ranks=2, preload=None):
        program = [PROGRAM] if preload is None else ["env", f"LD_PRELOAD={preload}", PROGRAM]
        launcher = [*LAUNCHER, "-n", str(ranks)] if ranks > 1 else []
        return subprocess.run([*launcher, *program, *arguments], capture_output=True, text=True, timeout=120,
                              check=False)

    def test_every_implementation_is_measured_beside_the_bound(self):
        result = self.run_bench(*SMALL, "--impl", ",".join(IMPLS), "--compute-ms", "20", "--json", str(self.path))
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        document = json.loads(self.path.read_text())
        self.assertEqual((document["meta"]["ranks"], document["meta"]["nodes"]), (2, 1))
        work, rows = document["work"], document["rows"]
        self.assertEqual((work["layers"], work["bytes"], work["samples"]), (5, 200 * 1024, 3))
        self.assertGreater(work["operations"], 0)
        self.assertEqual([row["impl"] for row in rows], IMPLS)
        communication = min(row["communication_ms"] for row in rows)
        self.assertEqual(work["bound_ms"], max(work["compute_ms"], communication))
        for row in rows:
            self.assertEqual(row["wrong"], 0)
            self.assertGreater(row["communication_ms"], 0)
            self.assertTrue(0 <= row["exposed_ms"] <= row["step_ms"], row)
            self.assertAlmostEqual(row["overlap"], 1 - row["exposed_ms"] / row["communication_ms"])
            self.assertAlmostEqual(row["ratio"], row["step_ms"] / work["bound_ms"])
            self.assertGreater(row["processor_ms"], 0.1 * row["step_ms"])  # it computes, and doesn't sleep

    def test_a_wrong_element_fails_the_run(self):
        result = self.run_bench(*SMALL, "--impl", "rondo,each,all", "--json", str(self.path), preload=FAULTY_MPI)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("elements were wrong", result.stderr)
        wrong = {row["impl"]: row["wrong"] for row in json.loads(self.path.read_text())["rows"]}
        self.assertEqual(wrong["rondo"], 0)
        # With backward and without, in each of three samples and the warm-up: one element for each call.
        self.assertEqual((wrong["each"], wrong["all"]), (5 * 2 * 4, 2 * 4))

    def test_bad_usage_is_refused_with_a_reason(self):
        for word, *arguments in [
                ("'nonsense' is no implementation", "--impl", "nonsense"),
                ("'iallreduce:0' is no implementation", "--impl", "iallreduce:0"),
                ("--layers", "--layers", "0"),
                ("from 4 to 1G bytes", "--layer-bytes", "2"),
                ("must not be negative", "--bucket-bytes", "-2"),
                ("--compute-ratio", "--compute-ratio", "0"),
                ("excludes", "--compute-ms", "1", "--compute-ratio", "1"),
                ("/nowhere/rows.json", "--json", "/nowhere/rows.json")]:
            with self.subTest(arguments=arguments):
                result = self.run_bench(*arguments, ranks=1)
                self.assertNotEqual(result.returncode, 0)
                self.assertIn(word, result.stdout + result.stderr)


if __name__ == "__main__":
    PROGRAM, FAULTY_MPI, *LAUNCHER = sys.argv[1:]
    unittest.main(argv=[sys.argv[0]])
