#!/usr/bin/env python3
"""Compares made-up results with compare.py, and gives compare.sh what it must refuse.

usage: compare_test.py FOLDER_OF_COMPARE_PY"""

import contextlib
import csv
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

FOLDER = sys.argv.pop(1)
sys.path.insert(0, FOLDER)
sys.dont_write_bytecode = True
import compare  # pylint: disable=wrong-import-position

OPEN_MPI = {"mpi": "Open MPI v5.0.11, package: somebody's", "machine": "some processor", "processors": 2}
MPICH = {"mpi": "MPICH Version:      4.0.2\nMPICH Release date: some day"}


def row(impl, size, time, **other):
    return {"impl": impl, "collective": "allreduce", "dtype": "float32", "op": "sum", "ranks": 2, "nodes": 1,
            "bytes": size, "count": size // 4, "in_place": False, "algorithm": "",
            "time_us": {"min": time, "p50": time, "p99": time, "max": time}, "algbw_gbs": size / time / 1e3,
            "busbw_gbs": size / time / 1e3, "wrong": 0, **other}


class Compare(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.files = 0

    def file(self, meta, *rows):
        self.files += 1
        path = self.folder / f"{self.files}.json"
        path.write_text(json.dumps({"meta": meta, "rows": rows}))
        return path

    def compare(self, *arguments):
        """What the program prints, and what it says as it fails."""
        printed = io.StringIO()
        with unittest.mock.patch("sys.argv", ["compare.py", *map(str, arguments)]), \
                contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            try:
                compare.main()
            except SystemExit as end:
                return printed.getvalue(), str(end.code)
        return printed.getvalue(), ""

    def runs(self):
        """Open MPI is the best peer for small messages, MPICH for large ones. The first runs are outliers."""
        return [self.file(OPEN_MPI, row("mpi", 8, 90), row("mpi", 1 << 20, 90)),
                *[self.file(OPEN_MPI, row("mpi", 8, 3 + k), row("mpi", 1 << 20, 400)) for k in (0, 1, 2, 1)],
                *[self.file(MPICH, row("mpi", 8, 5), row("mpi", 1 << 20, 300)) for _ in range(3)],
                *[self.file(OPEN_MPI, row("rondo", 8, 2), row("rondo", 1 << 20, 100),
                            row("limit", 8, 1)) for _ in range(3)]]

    def test_the_best_peer_of_each_size_is_told(self):
        printed, failure = self.compare(*self.runs(), "--json", self.folder / "all.json")
        self.assertEqual(failure, "")
        self.assertIn("| 8 B | 4.00 | 5.00 | 1.00 | 2.00 | Open MPI 5.0.11 | 2.00 |", printed)
        self.assertIn("| 1 MiB | 400.00 | 300.00 | - | 100.00 | MPICH 4.0.2 | 3.00 |", printed)
        self.assertIn("8 B to 1 MiB: rondo is 2.45 times as fast as the best peer, 2.00 at worst", printed)
        document = json.loads((self.folder / "all.json").read_text())
        self.assertEqual([entry["best"] for entry in document["comparison"]], ["Open MPI 5.0.11", "MPICH 4.0.2"])
        merged = {(r["impl"], r["bytes"]): r for r in document["rows"]}
        self.assertEqual(merged["Open MPI 5.0.11", 8]["runs"], 5)
        self.assertAlmostEqual(merged["Open MPI 5.0.11", 8]["busbw_gbs"], 8 / 4 / 1e3)

    def test_means_are_over_the_ranges_asked_for(self):
        printed, failure = self.compare(*self.runs(), "--range", "8:64", "--range", "32K:4M", "--range", "2:4")
        self.assertEqual(failure, "")
        self.assertIn("8 B to 64 B: rondo is 2.00 times", printed)
        self.assertIn("32 KiB to 4 MiB: rondo is 3.00 times", printed)
        self.assertIn("2 B to 4 B: no size was measured there", printed)
        self.assertIn("is no MIN:MAX", self.compare(*self.runs(), "--range", "8")[0])

    def test_a_quantile_takes_the_place_of_the_median(self):
        printed, failure = self.compare(*self.runs(), "--quantile", "0.25")
        self.assertEqual(failure, "")
        self.assertIn("quantile 0.25 of the runs", printed)
        self.assertIn("| 8 B | 4.00 | 5.00 | 1.00 | 2.00 |", printed)
        self.assertIn("| 8 B | 3.00 |", self.compare(*self.runs(), "--quantile", "0")[0])
        self.assertIn("not between 0 and 1", self.compare(*self.runs(), "--quantile", "15")[0])

    def test_types_are_kept_apart(self):
        printed, _ = self.compare(*self.runs(), self.file(
            MPICH, row("mpi", 8, 1, dtype="float64"), row("rondo-shared", 8, 2, dtype="float64")))
        self.assertIn("| 8 B | 1.00 | 2.00 | MPICH 4.0.2 | 0.50 |", printed)
        self.assertIn("2.00 | Open MPI 5.0.11 | 2.00 |", printed)

    def test_an_absent_peer_is_a_line(self):
        self.assertIn("absent: mpich: no mpicxx\n", self.compare(*self.runs(), "--absent", "mpich: no mpicxx")[0])

    def test_csv_has_a_line_for_each_size(self):
        self.compare(*self.runs(), "--csv", self.folder / "all.csv")
        with (self.folder / "all.csv").open(encoding="utf-8") as file:
            lines = list(csv.DictReader(file))
        self.assertEqual([(line["bytes"], line["best"], line["rondo us"]) for line in lines],
                         [("8", "Open MPI 5.0.11", "2.0"), ("1048576", "MPICH 4.0.2", "100.0")])

    def test_what_cannot_be_compared_is_an_error(self):
        ours, theirs = self.file(OPEN_MPI, row("rondo", 8, 2)), self.file(MPICH, row("mpi", 16, 2))
        self.assertIn("both Rondo and a peer", self.compare(ours, theirs)[1])
        self.assertIn("3.json: a row has no valid \"dtype\"",
                      self.compare(ours, theirs, self.file(MPICH, row("mpi", 8, 1, dtype=7)))[1])
        wrong = self.file(MPICH, row("mpi", 8, 2, wrong=3))
        self.assertIn("3 elements were wrong", self.compare(ours, wrong)[1])


class Script(unittest.TestCase):
    def test_bad_usage_is_told(self):
        for arguments, word in [(["--nonsense"], "--nonsense"), (["--ranks"], "wants a value"),
                                (["--rounds", "0"], "'0'"), (["--peers", "/absent"], "'/absent' is no folder")]:
            with self.subTest(arguments=arguments):
                result = subprocess.run([f"{FOLDER}/compare.sh", *arguments], capture_output=True, text=True,
                                        timeout=20, check=False)
                self.assertEqual(result.returncode, 2)
                self.assertIn(word, result.stderr)

    def test_help_is_printed(self):
        result = subprocess.run([f"{FOLDER}/compare.sh", "--help"], capture_output=True, text=True, timeout=20,
                                check=True)
        self.assertIn("--peers FOLDER", result.stdout)
        self.assertNotIn("set -euo", result.stdout)


if __name__ == "__main__":
    unittest.main()
