#!/usr/bin/env python3
"""Runs overlap_bench as its users do, and checks what it prints, writes and returns.

usage: overlap_bench_test.py PROGRAM FAULTY_MPI LAUNCHER...
where LAUNCHER starts a job when "-n N PROGRAM" is added to it."""

import json
import os
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

    def trace_of(self, *arguments):
        os.environ["RONDO_TRACE"] = str(self.path)
        self.addCleanup(os.environ.pop, "RONDO_TRACE")
        return self.run_bench(*SMALL[:-2], "--steps", "1", "--compute-ms", "5", *arguments)

    def test_a_trace_shows_all_ranks_by_one_clock(self):
        result = self.trace_of("--impl", "rondo")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        events = json.loads(self.path.read_text())["traceEvents"]
        steps = {rank: [e for e in events if e["name"] == "step" and e["pid"] == rank] for rank in (0, 1)}
        self.assertEqual(len(steps[0]), len(steps[1]))
        self.assertEqual(len(steps[0]), 4)  # with backward and without, in the warm-up and the sample
        for one, other in zip(steps[0], steps[1]):  # a step of one can't end before the other's begins
            self.assertGreater(one["ts"] + one["dur"], other["ts"])
            self.assertGreater(other["ts"] + other["dur"], one["ts"])
        for rank in (0, 1):
            sums = [e for e in events if e["name"] == "allreduce" and e["pid"] == rank and e["tid"] >= 2]
            self.assertIn(65536, {e["args"]["bytes"] for e in sums})
            self.assertTrue(all(e["dur"] > 0 for e in sums))
            for wait in (e for e in events if e["name"] == "waiting" and e["pid"] == rank):
                self.assertTrue(any(s["ts"] <= wait["ts"] and wait["ts"] + wait["dur"] <= s["ts"] + s["dur"] + 1
                                    for s in steps[rank]), wait)

    def test_a_trace_that_cannot_be_written_is_said_at_the_start(self):
        self.path = pathlib.Path("/nowhere/trace.json")
        result = self.trace_of()
        self.assertNotEqual(result.returncode, 0)
        self.assertEqual(result.stderr.count("/nowhere/trace.json"), 1, result.stderr)
        self.assertNotIn("samples", result.stdout)

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
