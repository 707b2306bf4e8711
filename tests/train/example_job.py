"""What the tests of examples share: jobs of a program under a launcher, in a folder of their own.

A test program is called with PROGRAM LAUNCHER..., where LAUNCHER starts a job when "-n N PROGRAM" is
added to it."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest


class ExampleJob(unittest.TestCase):
    command = []

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, contents):
        (self.folder / name).write_bytes(contents)
        return str(self.folder / name)

    def run_job(self, ranks, *options):
        program, *launcher = self.command
        return subprocess.run([*launcher, "-n", str(ranks), program, *map(str, options)], text=True, timeout=120,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def train(self, ranks, *options):
        """Runs a training that must succeed; returns what it printed and its epochs' losses."""
        metrics = self.folder / "metrics.jsonl"
        job = self.run_job(ranks, "--metrics", metrics, *options)
        self.assertEqual(job.returncode, 0, job.stdout)
        return job.stdout, [json.loads(line)["loss"] for line in metrics.read_text().splitlines()]

    def assert_same_checkpoint(self, *folders):
        """Sees that the folders' newest checkpoints have the same bytes."""
        newest = [max(folder.glob("*.safetensors")) for folder in folders]
        self.assertEqual(newest[0].read_bytes(), newest[1].read_bytes())

    def compare(self, tolerance, *options):
        """Sees that 2, 3 and 4 ranks have the losses of one."""
        _, one = self.train(1, *options)
        for ranks in (2, 3, 4):
            _, many = self.train(ranks, *options)
            self.assertEqual(len(many), len(one))
            for ours, theirs in zip(many, one):
                self.assertLess(abs(ours / theirs - 1), tolerance, f"{ranks} ranks, {options}")


def main():
    ExampleJob.command = sys.argv[1:]
    unittest.main(argv=sys.argv[:1], verbosity=2)
