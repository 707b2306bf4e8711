#!/usr/bin/env python3
"""Runs train_linear as its users do, and checks what it prints, writes and returns.

usage: train_linear_test.py PROGRAM TEST_CASE LAUNCHER...
where LAUNCHER starts a job when "-n N PROGRAM" is added to it."""

import gzip
import json
import os
import pathlib
import pty
import random
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = ""
LAUNCHER = []


def rows(count, seed=1):
    """The lines of a small CSV file: two numbers, a category, and a target that they nearly give."""
    draw = random.Random(seed)
    yield "x,z,kind,y"
    for _ in range(count):
        x, z, kind = draw.gauss(5, 2), draw.gauss(0, 1), draw.choice(["a", "b", "c"])
        target = 3 * x - 2 * z + {"a": 0, "b": 1, "c": -4}[kind] + draw.gauss(0, 0.3)
        yield f"{x:.6f},{z:.6f},{kind},{target:.6f}"


def newest(folder):
    """The newest checkpoint in a folder, without a library: the arrays by name, and the manifest but
    for what tells one file from another."""
    manifests = pathlib.Path(folder).glob("checkpoint-*.json")
    path = max(manifests, key=lambda name: int(name.stem.split("-")[1]))
    manifest = json.loads(path.read_text())
    for key in ("crc32", "notes"):
        del manifest[key]
    contents = (pathlib.Path(folder) / manifest.pop("file")["name"]).read_bytes()
    (length,) = struct.unpack("<Q", contents[:8])
    data = contents[8 + length:]
    arrays = {name: data[slice(*entry["data_offsets"])]
              for name, entry in json.loads(contents[8:8 + length]).items()}
    return arrays, manifest


class TrainLinear(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.data = self.write("data.csv", "\n".join(rows(203)) + "\n")

    def write(self, name, text):
        path = self.folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    def path(self, name):
        return str(self.folder / name)

    def run_job(self, ranks, *options):
        command = LAUNCHER + ["-n", str(ranks), PROGRAM, *map(str, options)]
        return subprocess.run(command, stdin=subprocess.DEVNULL, text=True, timeout=120,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def train(self, ranks, *options):
        """Runs a training that must succeed; returns what it printed."""
        job = self.run_job(ranks, *options)
        self.assertEqual(job.returncode, 0, job.stdout)
        return job.stdout

    def metrics(self, ranks, *options):
        """Runs a training; returns its metrics, an object for each epoch."""
        path = self.path("metrics.jsonl")
        self.train(ranks, "--metrics", path, *options)
        return [json.loads(line) for line in pathlib.Path(path).read_text().splitlines()]

    def small(self, *options):
        """Options for a quick training on the small file."""
        return ("--data", self.data, "--target", "y", "--batch-size", 16, *options)


class Equality(TrainLinear):
    """N ranks train the model of one."""

    def compare(self, ranks, tolerance, *options):
        one = self.metrics(1, *options)
        for count in ranks:
            many = self.metrics(count, *options)
            self.assertEqual(len(many), len(one))
            for ours, theirs in zip(many, one):
                self.assertLess(abs(ours["loss"] / theirs["loss"] - 1), tolerance,
                                f"{count} ranks, {options}: {ours} against {theirs}")

    def test_diamonds_in_float32(self):
        self.compare([2, 3, 4, 5, 8], 1e-5, "--epochs", 8)

    def test_diamonds_in_float64(self):
        self.compare([2, 3, 4, 5, 8], 1e-10, "--epochs", 8, "--dtype", "f64")

    def test_every_optimizer(self):
        for optimizer in ("adam", "adamw", "rmsprop"):
            self.compare([3], 1e-10, *self.small("--epochs", 4, "--optimizer", optimizer,
                                                 "--weight-decay", 0.1, "--dtype", "f64",
                                                 "--zero"))

    def test_batches_smaller_than_the_ranks(self):
        self.compare([5], 1e-10, "--data", self.data, "--target", "y", "--batch-size", 3,
                     "--epochs", 2, "--dtype", "f64", "--nesterov")

    def test_every_algorithm_named(self):
        for algorithm in ("ring", "recursive_doubling"):
            self.compare([3], 1e-10, *self.small("--epochs", 2, "--dtype", "f64", "--algorithm",
                                                 algorithm, "--bucket-mb", 0.001))

    def test_without_overlap(self):
        self.compare([2], 1e-10, *self.small("--epochs", 2, "--dtype", "f64", "--no-overlap"))


class Quality(TrainLinear):
    def test_defaults_come_close_to_the_exact_solution(self):
        scores = set()
        for ranks in (1, 2):
            output = self.train(ranks)
            distance = float(re.search(r"least-squares solution (\S+) ", output)[1])
            self.assertLess(distance, 1e-3, output)
            scores.add(round(float(re.search(r"test R² (\S+),", output)[1]), 4))
        self.assertEqual(len(scores), 1, "R² differs in the fourth digit")
        self.assertGreater(scores.pop(), 0.915)

    def test_metrics_have_one_object_an_epoch(self):
        records = self.metrics(2, *self.small("--epochs", 3, "--schedule", "constant", "--lr", 0.01))
        self.assertEqual([record["epoch"] for record in records], [1, 2, 3])
        self.assertEqual([record["step"] for record in records], [11, 22, 33])  # 173 of 203 samples
        for record in records:
            self.assertEqual(record["lr"], 0.01)
            self.assertGreater(record["samples_per_second"], 0)
            self.assertTrue(0 <= record["overlap"] <= 1, record)

    def test_columns_that_depend_on_each_other_are_named(self):
        lines = list(rows(100))
        doubled = [lines[0] + ",twice"] + [f"{line},{2 * float(line.split(',')[0])}"
                                           for line in lines[1:]]
        data = self.write("doubled.csv", "\n".join(doubled))
        output = self.train(2, "--data", data, "--target", "y", "--epochs", 2)
        self.assertRegex(output, r"not unique: (x|twice) can be computed")

    def test_gaps_are_filled_or_dropped(self):
        lines = list(rows(100))
        lines[7] = "NA," + lines[7].split(",", 1)[1]
        lines[9] = lines[9].rsplit(",", 1)[0] + ","
        data = self.write("gaps.csv", "\n".join(lines))
        for policy in ("drop", "mean"):
            self.train(2, "--data", data, "--target", "y", "--epochs", 1, "--missing", policy)

    def test_compressed_data_is_read(self):
        data = self.write("data.csv.gz", gzip.compress("\n".join(rows(50)).encode()))
        self.train(2, "--data", data, "--target", "y", "--epochs", 1)

    def test_shipped_data_is_found_from_anywhere(self):
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir("/")
        self.train(1, "--max-steps", 1)

    def test_output_is_plain_lines_without_a_terminal(self):
        output = self.train(2, *self.small("--epochs", 2))
        self.assertNotIn("\x1b", output)
        self.assertEqual(len(re.findall(r"^epoch [12]/2  loss", output, re.MULTILINE)), 2)

    def test_output_has_a_bar_on_a_terminal(self):
        controller, terminal = pty.openpty()
        command = [PROGRAM, *map(str, self.small("--epochs", 2))]
        job = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=terminal, stderr=terminal)
        os.close(terminal)
        output = b""
        try:
            while piece := os.read(controller, 65536):
                output += piece
        except OSError:  # Linux reports the end of the last writer so
            pass
        os.close(controller)
        self.assertEqual(job.wait(), 0, output)
        self.assertIn(b"\r\x1b[2Kepoch 1/2 [", output)

    def test_help_is_printed_once(self):
        output = self.train(3, "--help")
        self.assertEqual(output.count("--batch-size"), 1, output)


class BadInput(TrainLinear):
    """What is wrong is said once, and the job's status is not 0, within seconds."""

    def refuse(self, pattern, *options, ranks=3):
        begin = time.monotonic()
        job = self.run_job(ranks, *options)
        self.assertLess(time.monotonic() - begin, 30)
        self.assertNotEqual(job.returncode, 0, job.stdout)
        self.assertEqual(len(re.findall(pattern, job.stdout)), 1, f"{pattern} in:\n{job.stdout}")

    def refuse_data(self, pattern, text, *options, name="bad.csv"):
        self.refuse(pattern, "--data", self.write(name, text), "--target", "y", *options)

    def test_options(self):
        self.refuse("--nonsense", "--nonsense")
        for option, value in [("--epochs", 0), ("--epochs", -1), ("--batch-size", 0), ("--lr", -1),
                              ("--lr", "fast"), ("--dtype", "f16"), ("--optimizer", "lbfgs"),
                              ("--schedule", "linear"), ("--missing", "guess"),
                              ("--test-fraction", 1)]:
            self.refuse(option, *self.small(option, value), ranks=2)
        self.refuse("(?i)nesterov", *self.small("--nesterov", "--momentum", 0))
        self.refuse("1000 steps of warm-up", *self.small("--epochs", 1, "--warmup", 1000))

    def test_algorithm(self):
        self.refuse("hypercube.*there are .*ring", *self.small("--algorithm", "hypercube"))

    def test_files(self):
        self.refuse("absent.csv': No such file", "--data", self.path("absent.csv"))
        self.refuse("Is a directory", "--data", self.folder)
        whole = gzip.compress("\n".join(rows(500)).encode())
        self.refuse_data("damaged or cut short", whole[:-100], name="cut.csv.gz")
        self.refuse_data("damaged or cut short", whole[:200] + b"x" + whole[201:], name="bad.csv.gz")

    def test_contents(self):
        self.refuse_data("empty", "")
        self.refuse_data("no rows", "x,y\n")
        self.refuse_data("bad.csv:3: column 'x': the value is missing", "x,y\n1,2\n,3\n")
        self.refuse_data("bad.csv:3: column 'x': '2,5'", 'x,y\n1,2\n"2,5",3\n3,4\n')
        self.refuse_data("bad.csv:4: column 'x': 'oops'", "x,y\n1,2\n2,3\noops,4\n")
        self.refuse_data("bad.csv:3: 1 fields", "x,y\n1,2\n3\n")
        self.refuse_data("bad.csv:2: a quote", 'x,y\n"1,2\n')
        self.refuse_data("bad.csv:1: two columns", "x,x,y\n1,2,3\n")
        self.refuse_data("bad.csv:2: column 'x': 'inf'", "x,y\ninf,2\n3,4\n")

    def test_data_that_teach_nothing(self):
        self.refuse("no column 'price'", "--data", self.data)
        self.refuse("'kind'.*categorical", "--data", self.data, "--target", "kind")
        self.refuse_data("same value", "x,y\n1,2\n3,2\n4,2\n")
        self.refuse_data("no feature", "x,y\n1,2\n1,3\n1,4\n")

    def test_data_that_differ_between_ranks(self):
        other = self.write("other.csv", "\n".join(rows(203, seed=2)))
        first, second = ([PROGRAM, "--target", "y", "--data", data] for data in (self.data, other))
        command = LAUNCHER + ["-n", "1", *first, ":", "-n", "2", *second]
        job = subprocess.run(command, stdin=subprocess.DEVNULL, text=True, timeout=60,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertNotEqual(job.returncode, 0, job.stdout)
        self.assertEqual(len(re.findall("rank 1: .*differs from rank 0", job.stdout)), 1, job.stdout)

    def test_places_that_cannot_be_written(self):
        self.refuse("/dev/null.*Not a directory", *self.small("--checkpoint", "/dev/null/saved"))
        self.refuse("/dev/full.*No space left", *self.small("--metrics", "/dev/full"))

    def test_a_learning_rate_that_diverges(self):
        self.refuse("not finite.*lower --lr", *self.small("--lr", 1e6, "--epochs", 20))

    def test_checkpoints(self):
        checkpoint = self.path("saved")
        self.train(2, *self.small("--epochs", 2, "--checkpoint", checkpoint))
        for option, value, pattern in [("--batch-size", 8, "batch-size was 16 and is 8 now"),
                                       ("--optimizer", "adam", "optimizer was sgd and is adam"),
                                       ("--dtype", "f64", "dtype was f32 and is f64"),
                                       ("--epochs", 4, "cosine over 2 epochs"),
                                       ("--lr", 0.5, "lr was 0.03 and is 0.5"),
                                       ("--seed", 5, "seed was 0 and is 5")]:
            options = {"--data": self.data, "--target": "y", "--batch-size": 16, "--epochs": 2,
                       "--resume": checkpoint, option: value}
            self.refuse(pattern, *[text for pair in options.items() for text in pair])
        self.refuse("saved' holds checkpoints of another training", *self.small("--checkpoint", checkpoint))
        other = self.write("other.csv", "\n".join(rows(203, seed=2)))
        self.refuse("data fingerprint was", "--data", other, "--target", "y", "--batch-size", 16,
                    "--epochs", 2, "--resume", checkpoint)
        for path in pathlib.Path(checkpoint).glob("*.safetensors"):
            path.write_bytes(path.read_bytes()[:-1])
        self.refuse("checkpoint-2.safetensors' cannot be used", *self.small("--resume", checkpoint))
        self.refuse("No such file", *self.small("--resume", self.path("absent")))


class Resume(TrainLinear):
    """A resumed run is the one that was not interrupted, bit for bit."""

    def compare(self, ranks, stop, *options):
        whole, parts = (self.path(f"{name}-{len(os.listdir(self.folder))}") for name in ("whole", "parts"))
        uninterrupted = self.metrics(ranks, "--checkpoint", whole, *options)
        self.metrics(ranks, "--checkpoint", parts, "--max-steps", stop, *options)
        self.assertNotEqual(newest(parts), newest(whole))
        resumed = self.metrics(ranks, "--checkpoint", parts, "--resume", parts, *options)
        self.assertEqual(newest(parts), newest(whole))
        for record in uninterrupted + resumed:
            for name in ("samples_per_second", "communication_seconds", "exposed_seconds", "overlap"):
                del record[name]
        self.assertEqual(resumed, uninterrupted)

    def test_every_optimizer_between_epochs_and_within_one(self):
        for optimizer in ("sgd", "adam", "adamw", "rmsprop"):
            for stop in (55, 57):  # epochs have 11 steps
                self.compare(2, stop, *self.small("--epochs", 10, "--optimizer", optimizer))

    def test_float64_with_warm_up_and_nesterov(self):
        self.compare(3, 20, *self.small("--epochs", 4, "--dtype", "f64", "--nesterov", "--warmup", 30,
                                        "--weight-decay", 0.01))

    def test_more_epochs_at_a_constant_rate(self):
        whole, parts = self.path("whole"), self.path("parts")
        options = self.small("--schedule", "constant")
        self.train(2, *options, "--epochs", 6, "--checkpoint", whole)
        self.train(2, *options, "--epochs", 2, "--checkpoint", parts)
        self.train(2, *options, "--epochs", 6, "--checkpoint", parts, "--resume", parts)
        self.assertEqual(newest(parts), newest(whole))

    def test_another_number_of_ranks_goes_on_all_the_same(self):
        checkpoint = self.path("saved")
        options = self.small("--epochs", 4, "--dtype", "f64", "--optimizer", "adam")
        one = self.metrics(1, *options)
        self.train(2, *options, "--max-steps", 15, "--checkpoint", checkpoint, "--zero")
        many = self.metrics(3, *options, "--resume", checkpoint)
        self.assertEqual(len(many), 4)
        for ours, theirs in zip(many, one):
            self.assertEqual(ours["epoch"], theirs["epoch"])
            self.assertAlmostEqual(ours["loss"] / theirs["loss"], 1, delta=1e-10)

    def test_a_finished_run_has_nothing_left_to_do(self):
        checkpoint = self.path("saved")
        options = self.small("--epochs", 2, "--checkpoint", checkpoint)
        first = self.train(2, *options)
        second = self.train(2, *options, "--resume", checkpoint)
        self.assertNotIn("epoch 2/2", second)
        self.assertEqual(re.findall("test R² .*", first), re.findall("test R² .*", second))


class Kill(TrainLinear):
    def test_a_checkpoint_survives_being_killed_while_saving(self):
        checkpoint = self.path("saved")
        draw = random.Random(11)
        options = [*map(str, self.small("--epochs", 100000, "--schedule", "constant",
                                        "--checkpoint", checkpoint, "--checkpoint-every", 1))]
        steps = [0]
        for attempt in range(5):
            resume = ["--resume", checkpoint] if steps[-1] else []
            job = subprocess.Popen([PROGRAM, *options, *resume], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            deadline = time.monotonic() + 60
            while not self.step_saved(checkpoint) > steps[-1]:
                self.assertIsNone(job.poll(), job.stderr.read() if job.poll() else "")
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.001)
            time.sleep(draw.uniform(0, 0.05))
            job.send_signal(signal.SIGKILL)
            job.wait()
            job.stderr.close()
            steps.append(self.step_saved(checkpoint))
            self.assertGreater(steps[-1], steps[-2])

    def step_saved(self, folder):
        """The step of the newest checkpoint; 0: there is none, or it is being removed."""
        try:
            return newest(folder)[1]["step"]
        except (ValueError, FileNotFoundError):
            return 0


if __name__ == "__main__":
    PROGRAM, case, LAUNCHER = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3:]
    unittest.main(argv=[sys.argv[0], case, "-v"])
