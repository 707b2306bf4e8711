#!/usr/bin/env python3
"""Runs rondo-tune as its users do, and checks what it prints, writes and returns, and that the file is used.

usage: rondo_tune_test.py RONDO_TUNE RONDO_INFO LAUNCHER...
where LAUNCHER starts a job when "-n N PROGRAM" is added to it."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

RONDO_TUNE = RONDO_INFO = ""
LAUNCHER = []
BRIEF = ("--seconds", "1", "--min", "8", "--max", "512", "--factor", "8", "--collective", "allreduce,broadcast")


class RondoTune(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "tuning.json"

    def run_program(self, program, *arguments, ranks=2, **environment):
        return subprocess.run([*LAUNCHER, "-n", str(ranks), program, *arguments], capture_output=True, text=True,
                              timeout=60, check=False, env={**os.environ, **environment})

    def tune(self, ranks=2, **environment):
        result = self.run_program(RONDO_TUNE, *BRIEF, "--output", str(self.path), ranks=ranks, **environment)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout

    def placements(self):
        document = json.loads(self.path.read_text())
        self.assertEqual(document["rondo_tuning"], 1)
        return {entry["ranks"]: entry for entry in document["placements"]}

    def test_what_it_measured_is_used(self):
        began = time.monotonic()
        printed = self.tune(RONDO_DETERMINISTIC="on")
        self.assertLess(time.monotonic() - began, 10, "a second was granted")
        here = self.placements()[2]
        for collective in ("allreduce", "broadcast"):
            self.assertIn(collective, printed)
            ranges = [entry for entry in here["measured"] if entry["collective"] == collective]
            self.assertEqual([entry["up_to_bytes"] for entry in ranges], [22, 181, 1448])
            for entry in ranges:
                names = [way["algorithm"] for way in entry["ranking"]]
                self.assertEqual(len(names), len(set(names)), "each algorithm once")
                self.assertTrue(all(way["microseconds"] > 0 for way in entry["ranking"]))
        result = self.run_program(RONDO_INFO, "--explain", "--json", RONDO_TUNING_FILE=str(self.path))
        rows = json.loads(result.stdout)["choices"]
        for row in rows:
            measured = row["collective"] in ("allreduce", "broadcast") and row["to_bytes"] <= 1024
            self.assertEqual(row["why"] == "fastest in the tuning file", measured, row)

    def test_sizes_that_leave_a_rank_nothing_are_left_out(self):
        result = self.run_program(RONDO_TUNE, "--seconds", "2", "--max", "32", "--collective", "reduce_scatter",
                                  "--output", str(self.path), ranks=3)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertEqual([entry["collective"] for entry in self.placements()[3]["measured"]], ["reduce_scatter"])

    def test_other_placements_stay(self):
        self.tune(ranks=3)
        before = self.placements()[3]
        self.tune(ranks=2)
        self.assertEqual(self.placements()[3], before)
        self.assertEqual(set(self.placements()), {2, 3})

    def refuses(self, message, *arguments, ranks=2):
        result = self.run_program(RONDO_TUNE, *arguments, ranks=ranks)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn(message, result.stderr + result.stdout)

    def test_a_file_that_is_something_else_stays_as_it_is(self):
        self.path.write_text("precious")
        self.refuses(str(self.path), *BRIEF, "--output", str(self.path))
        self.assertEqual(self.path.read_text(), "precious")

    def test_what_makes_no_sense_is_refused(self):
        self.refuses("/nowhere/tuning.json", *BRIEF, "--output", "/nowhere/tuning.json")
        self.refuses("--min 4096 is more than --max 8", "--min", "4K", "--max", "8")
        self.refuses("--collective", "--collective", "barrier")
        self.refuses("one rank has nothing to choose", ranks=1)


if __name__ == "__main__":
    RONDO_TUNE, RONDO_INFO, *LAUNCHER = sys.argv[1:]
    unittest.main(argv=[sys.argv[0]])
