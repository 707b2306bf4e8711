#!/usr/bin/env python3
"""Runs allreduce_bench as its users do, and checks what it prints, writes and returns.

usage: allreduce_bench_test.py PROGRAM FAULTY_MPI TEST_CASE LAUNCHER...
where LAUNCHER starts a job when "-n N PROGRAM" is added to it."""

import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = FAULTY_MPI = ""
LAUNCHER = []
META = {"machine": str, "processors": int, "mpi": str, "mpi_threads": str, "instruction_set": str,
        "ranks": int, "nodes": int, "rondo": str, "command": str, "memory": str}
ROW = {"impl": str, "collective": str, "dtype": str, "op": str, "ranks": int, "nodes": int,
       "bytes": int, "count": int, "in_place": bool, "algorithm": str, "time_us": dict,
       "algbw_gbs": float, "busbw_gbs": float, "wrong": int}
BUS_FACTORS = {"allreduce": lambda n: 2 * (n - 1) / n, "reduce_scatter": lambda n: (n - 1) / n,
               "allgather": lambda n: (n - 1) / n, "broadcast": lambda n: 1, "reduce": lambda n: 1}


class AllreduceBench(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_bench(self, *arguments, ranks=2, preload=None):
        program = [PROGRAM] if preload is None else ["env", f"LD_PRELOAD={preload}", PROGRAM]
        launcher = [*LAUNCHER, "-n", str(ranks)] if ranks > 1 else []  # which would take longer to fail
        return subprocess.run([*launcher, *program, *arguments],
                              capture_output=True, text=True, timeout=120, check=False)

    def measure(self, *arguments, ranks=2):
        """The JSON of a run that must succeed."""
        path = self.folder / "rows.json"
        result = self.run_bench(*arguments, "--iterations", "3", "--json", str(path), ranks=ranks)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return json.loads(path.read_text())

    def check_types(self, record, types):
        self.assertEqual(set(record), set(types))
        for name, type_ in types.items():
            accepted = (int, float) if type_ is float else type_
            self.assertIsInstance(record[name], accepted, name)

    def check_row(self, row):
        self.check_types(row, ROW)
        times = row["time_us"]
        self.assertEqual(set(times), {"min", "p50", "p99", "max"})
        self.assertTrue(0 < times["min"] <= times["p50"] <= times["p99"] <= times["max"], times)
        self.assertEqual(row["wrong"], 0)
        if row["collective"] == "barrier":
            return
        self.assertAlmostEqual(row["algbw_gbs"] / (row["bytes"] / times["p50"] / 1e3), 1, 6)
        factor = BUS_FACTORS[row["collective"]](row["ranks"])
        self.assertAlmostEqual(row["busbw_gbs"], row["algbw_gbs"] * factor, 6)


class Results(AllreduceBench):
    def test_rows_are_those_asked_for(self):
        document = self.measure("--impl", "rondo,rondo-shared,rondo:ring,mpi,limit", "--dtype", "f32,i32",
                                "--op", "sum,max", "--min", "8", "--max", "64K", "--factor", "8192")
        self.check_types(document["meta"], META)
        self.assertEqual((document["meta"]["ranks"], document["meta"]["nodes"]), (2, 1))
        for row in document["rows"]:
            self.check_row(row)
        found = [(r["impl"], r["dtype"], r["op"], r["bytes"], r["count"]) for r in document["rows"]]
        wanted = [(impl, type_, op, size, size // 4)
                  for type_ in ("float32", "int32") for op in ("sum", "max") for size in (8, 65536)
                  for impl in ("rondo", "rondo-shared", "rondo:ring", "mpi", "limit")]
        self.assertEqual(found, wanted)
        self.assertEqual({r["algorithm"] for r in document["rows"] if r["impl"] == "rondo:ring"}, {"ring"})

    def test_every_collective_in_place_and_not_on_three_ranks(self):
        for collective in (*BUS_FACTORS, "barrier"):
            for extra in ([], ["--in-place"]):
                rows = self.measure("--collective", collective, "--impl", "rondo,rondo-shared,mpi", "--min", "1000",
                                    "--max", "100K", "--factor", "64", *extra, ranks=3)["rows"]
                self.assertGreaterEqual(len(rows), 2, collective)
                for row in rows:
                    self.check_row(row)
                    self.assertEqual((row["collective"], row["in_place"]), (collective, bool(extra)))

    def test_mpi_alone_runs_without_threads(self):
        self.assertNotEqual(self.measure("--impl", "mpi", "--max", "8")["meta"]["mpi_threads"], "MPI_THREAD_MULTIPLE")

    def test_csv_has_the_same_rows(self):
        path = self.folder / "rows.csv"
        rows = self.measure("--impl", "rondo,mpi", "--max", "64", "--csv", str(path))["rows"]
        with open(path, newline="", encoding="utf-8") as file:
            table = list(csv.DictReader(file))
        self.assertEqual([(r["impl"], r["bytes"], r["algorithm"]) for r in table],
                         [(r["impl"], str(r["bytes"]), r["algorithm"]) for r in rows])

    def test_caches_can_be_cold(self):
        rows = self.measure("--impl", "rondo", "--min", "64K", "--max", "64K", "--cold")["rows"]
        self.check_row(rows[0])

    def test_what_mpi_lacks_is_left_out(self):
        path = self.folder / "rows.json"
        result = self.run_bench("--impl", "rondo,mpi", "--dtype", "bf16", "--max", "8", "--iterations", "1",
                                "--json", str(path))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("mpi is left out: it has no allreduce of bfloat16, sum", result.stderr)
        self.assertEqual([row["impl"] for row in json.loads(path.read_text())["rows"]], ["rondo"])

    def test_a_wrong_element_fails_the_run(self):
        path = self.folder / "rows.json"
        result = self.run_bench("--impl", "rondo,mpi", "--min", "64K", "--max", "64K", "--iterations", "3",
                                "--json", str(path), preload=FAULTY_MPI)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("elements were wrong", result.stderr)
        wrong = {row["impl"]: row["wrong"] for row in json.loads(path.read_text())["rows"]}
        self.assertEqual(wrong["rondo"], 0)
        self.assertGreaterEqual(wrong["mpi"], 3)  # one in each iteration, the warm-up's too


class BadUsage(AllreduceBench):
    def refuses(self, word, *arguments, ranks=1):
        result = self.run_bench(*arguments, ranks=ranks)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn(word, result.stdout + result.stderr)

    def test_is_refused_with_a_reason(self):
        for word, *arguments in [
                ("'nonsense' is no implementation", "--impl", "nonsense"),
                ("'rondo:bell' is no implementation", "--impl", "rondo:bell"),
                ("chain", "--impl", "rondo:chain"),
                ("--dtype", "--dtype", "float128"),
                ("--op", "--op", "xor"),
                ("--collective", "--collective", "gossip"),
                ("less than one float32", "--min", "2"),
                ("more than --max", "--min", "2K", "--max", "1K"),
                ("must not be negative", "--min", "-8"),
                ("--factor", "--factor", "1"),
                ("no buffers on devices", "--device", "cuda", "--impl", "gloo"),
                ("--device", "--device", "abacus"),
                ("excludes", "--seconds", "1", "--iterations", "1"),
                ("nothing to measure", "--impl", "mpi", "--dtype", "bf16", "--max", "8"),
                ("not a regular file", "--json", "/tmp"),
                ("/nowhere/rows.json", "--json", "/nowhere/rows.json")]:
            with self.subTest(arguments=arguments):
                self.refuses(word, *arguments)

    def test_blocks_need_an_element_for_each_rank(self):
        self.refuses("needs 8 at least", "--collective", "allgather", "--min", "4", ranks=2)
        rows = self.measure("--collective", "allgather", "--impl", "rondo", "--dtype", "f32,f64", "--max", "32",
                            ranks=3)["rows"]
        self.assertEqual([row["bytes"] for row in rows], [24, 24])

    @unittest.skipIf(pathlib.Path("/dev/nvidiactl").exists(), "there is a GPU here")
    def test_devices_that_are_missing_are_named(self):
        self.refuses("CUDA", "--device", "cuda", "--max", "8")

    def test_an_unwritable_file_stops_it_before_it_measures(self):
        result = self.run_bench("--csv", "/nowhere/rows.csv", ranks=1)
        self.assertNotIn("node", result.stdout)

    def test_a_failed_run_leaves_the_old_file_alone(self):
        path = self.folder / "rows.json"
        path.write_text("before")
        self.run_bench("--json", str(path), "--csv", "/nowhere/rows.csv", ranks=1)
        self.assertEqual(path.read_text(), "before")
        self.assertEqual(os.listdir(self.folder), ["rows.json"])


if __name__ == "__main__":
    PROGRAM, FAULTY_MPI, CASE, *LAUNCHER = sys.argv[1:]
    unittest.main(argv=[sys.argv[0], CASE])
