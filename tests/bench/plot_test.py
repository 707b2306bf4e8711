#!/usr/bin/env python3
"""Draws made-up results with plot.py, and gives it files that can't be drawn.

usage: plot_test.py FOLDER_OF_PLOT_PY"""

import contextlib
import copy
import io
import json
import pathlib
import sys
import tempfile
import unittest
import unittest.mock

sys.path.insert(0, sys.argv.pop(1))
sys.dont_write_bytecode = True
import plot  # pylint: disable=wrong-import-position

META = {"machine": "some processor", "processors": 2, "mpi": "Open MPI v4.1.4, package: somebody's", "ranks": 2}


def row(impl, size, **other):
    time = 1 + size / 1000
    return {"impl": impl, "collective": "allreduce", "dtype": "float32", "op": "sum", "ranks": 2, "nodes": 1,
            "bytes": size, "count": size // 4, "in_place": False, "algorithm": "ring",
            "time_us": {"min": time, "p50": time, "p99": time, "max": time}, "algbw_gbs": size / time / 1e3,
            "busbw_gbs": size / time / 1e3, "wrong": 0, **other}


class Plot(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.rows = [row(impl, size) for impl in ("rondo", "mpi", "limit") for size in (8, 1024, 1 << 20)]

    def write(self, name, document):
        path = self.folder / name
        path.write_text(document if isinstance(document, str) else json.dumps(document))
        return path

    def plot(self, *arguments):
        """What the program says as it fails, and nothing when it doesn't."""
        with unittest.mock.patch("sys.argv", ["plot.py", *map(str, arguments)]), \
                contextlib.redirect_stdout(io.StringIO()):
            try:
                plot.main()
            except SystemExit as end:
                return end.code  # a text is printed, and the status is then 1
        return ""

    def drawn(self):
        return sorted(path.name for path in self.folder.iterdir() if path.suffix in (".png", ".svg"))

    def test_draws_one_file(self):
        self.assertEqual(self.plot(self.write("here.json", {"meta": META, "rows": self.rows})), "")
        self.assertEqual(self.drawn(), ["here.png", "here.svg"])
        self.assertTrue((self.folder / "here.png").read_bytes().startswith(b"\x89PNG"))
        svg = (self.folder / "here.svg").read_text()
        for text in ("Rondo", "Open MPI 4.1.4", "memory limit", "32 KiB", "some processor", "2 ranks on 1 node"):
            self.assertTrue(text in svg, text)

    def test_tells_files_apart(self):
        one = self.write("one.json", {"meta": META, "rows": self.rows})
        two = self.write("two.json", {"meta": META, "rows": self.rows})
        self.assertEqual(self.plot(one, two, "--output", self.folder / "both"), "")
        svg = (self.folder / "both.svg").read_text()
        self.assertTrue("Rondo (one)" in svg and "Rondo (two)" in svg)

    def test_draws_what_differs_apart(self):
        rows = self.rows + [row("rondo", 64, dtype="bfloat16")] + [row("rondo", 0, collective="barrier", op="-")]
        self.assertEqual(self.plot(self.write("here.json", {"meta": META, "rows": rows})), "")
        self.assertEqual(len(self.drawn()), 4)
        self.assertIn("here-allreduce-bfloat16-sum-2x1.png", self.drawn())

    def trace(self, steps):
        """Two ranks whose steps take 10 ms, of which they wait 2, while gradients travel for 6."""
        def event(rank, track, name, start, length, size=0):
            return {"ph": "X", "pid": rank, "tid": track, "name": name, "ts": start, "dur": length,
                    "args": {"bytes": size}}
        events = [{"ph": "M", "pid": 0, "tid": 0, "name": "process_name", "args": {"name": "rank 0"}}]
        for rank in (0, 1):
            for step in range(steps):
                begin = 20000 * step
                events += [event(rank, 2, "allreduce", begin, 500, 8),
                           event(rank, 2, "allreduce", begin + 1000, 4000, 4096),
                           event(rank, 3, "allreduce", begin + 4000, 3000, 4096),
                           event(rank, 0, "waiting", begin + 5000, 2000),
                           event(rank, 0, "step", begin, 10000, 8192)]
        return {"traceEvents": events}

    def test_draws_a_step_of_a_trace(self):
        self.assertEqual(self.plot(self.write("trace.json", self.trace(3))), "")
        self.assertEqual(self.drawn(), ["trace.png", "trace.svg"])
        svg = (self.folder / "trace.svg").read_text()
        self.assertTrue("step 1" in svg and "rank 0" in svg and "rank 1" in svg)
        self.assertEqual(svg.count("10.00 ms, gradients travelled for 6.00, exposed 2.00"), 2)

    def test_draws_what_overlaps(self):
        document = {"meta": META, "work": {"bytes": 1 << 20, "compute_ms": 10.0, "bound_ms": 11.0},
                    "rows": [{"impl": impl, "step_ms": step, "communication_ms": 11.0, "ratio": step / 11.0}
                             for impl, step in (("rondo", 12.1), ("iallreduce", 16.5))]}
        self.assertEqual(self.plot(self.write("overlap.json", document)), "")
        self.assertEqual(self.drawn(), ["overlap.png", "overlap.svg"])
        svg = (self.folder / "overlap.svg").read_text()
        for text in ("reducer", "MPI_Iallreduce", "1.10 × bound", "1.50 × bound", "1.0 MiB of gradients"):
            self.assertTrue(text in svg, text)
        del document["rows"][1]["ratio"]
        self.assertTrue("no valid \"impl\"" in self.plot(self.write("cut.json", document)))
        document["rows"] = []
        self.assertTrue("no rows" in self.plot(self.write("cut.json", document)))

    def test_refuses_steps_that_are_not_there(self):
        path = self.write("trace.json", self.trace(2))
        self.assertIn("the trace has steps 0 to 1", self.plot(path, "--step", "2"))
        self.assertIn("no training step", self.plot(self.write("none.json", self.trace(0))))
        with contextlib.redirect_stderr(io.StringIO()) as said:
            self.plot(self.write("here.json", {"meta": META, "rows": self.rows}), "--step", "2")
            self.plot(path, path)
        self.assertIn("is no trace", said.getvalue())
        self.assertIn(f"{path} is drawn alone", said.getvalue())
        self.assertEqual(self.drawn(), [])

    def test_refuses_what_it_cannot_draw(self):
        no_time = copy.deepcopy(self.rows)
        del no_time[1]["time_us"]["p50"]
        for word, document in [("no JSON", "{"), ("something else", "[]"), ("something else", {"rows": []}),
                               ("\"p50\"", {"meta": META, "rows": no_time}),
                               ("\"bytes\"", {"meta": META, "rows": [row("mpi", 8, bytes="8")]}),
                               ("no row has a size", {"meta": META, "rows": []})]:
            with self.subTest(document=document):
                self.assertIn(word, self.plot(self.write("bad.json", document)))

    def test_names_files_that_it_cannot_read_or_write(self):
        self.assertIn("missing.json: No such file", self.plot(self.folder / "missing.json"))
        good = self.write("here.json", {"meta": META, "rows": self.rows})
        self.assertIn("cannot write", self.plot(good, "--output", self.folder / "nowhere" / "here"))


if __name__ == "__main__":
    unittest.main()
