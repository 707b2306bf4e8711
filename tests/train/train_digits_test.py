#!/usr/bin/env python3
"""Runs train_digits as its users do, and checks what it prints, writes and returns.

usage: train_digits_test.py PROGRAM LAUNCHER..."""

import gzip
import pathlib
import re
import struct
import unittest

import example_job


def idx(shape, elements):
    return struct.pack(f">BBBB{len(shape)}I", 0, 0, 8, len(shape), *shape) + bytes(elements)


class TrainDigits(example_job.ExampleJob):
    def test_n_ranks_train_the_model_of_one(self):
        self.compare(1e-10, "--epochs", 3, "--dtype", "f64", "--dropout", 0.25)
        self.compare(1e-5, "--max-steps", 46, "--epochs", 2)

    def test_defaults_tell_digits_apart(self):
        output, _ = self.train(2)
        self.assertGreater(float(re.search(r"test accuracy (\S+),", output)[1]), 0.975, output)

    def test_a_resumed_run_is_the_one_that_was_interrupted(self):
        options = ("--epochs", 2, "--dropout", 0.5)
        first, second = self.folder / "first", self.folder / "second"
        self.train(2, *options, "--checkpoint", first)
        self.train(2, *options, "--checkpoint", second, "--max-steps", 30)  # in the second epoch
        self.train(2, *options, "--checkpoint", second, "--resume", second)
        self.assert_same_checkpoint(first, second)

    def test_bfloat16_tells_digits_apart_and_resumes(self):
        options = ("--epochs", 2, "--dtype", "bf16", "--hook", "bf16")
        first, second = self.folder / "first", self.folder / "second"
        _, losses = self.train(2, *options, "--checkpoint", first)
        self.train(2, *options, "--checkpoint", second, "--max-steps", 30)
        self.train(2, *options, "--checkpoint", second, "--resume", second)
        self.assert_same_checkpoint(first, second)
        _, full = self.train(2, "--epochs", 2)
        self.assertNotEqual(losses, full)
        self.assertLess(abs(losses[1] / full[1] - 1), 0.05)

    def test_a_resumed_run_accumulates_and_compresses_as_the_interrupted_one(self):
        options = ("--epochs", 1, "--hook", "powersgd", "--accumulate", 3, "--clip-norm", 1)
        first, second = self.folder / "first", self.folder / "second"
        self.train(2, *options, "--checkpoint", first)
        self.train(2, *options, "--checkpoint", second, "--max-steps", 10)
        self.train(2, *options, "--checkpoint", second, "--resume", second)
        self.assert_same_checkpoint(first, second)

    def test_accumulation_trains_the_model_of_whole_batches(self):
        options = ("--epochs", 1, "--dtype", "f64", "--dropout", 0.25, "--clip-norm", 0.5)
        _, whole = self.train(2, *options)
        _, parts = self.train(2, *options, "--accumulate", 40)  # more than a rank has samples
        self.assertLess(abs(parts[0] / whole[0] - 1), 1e-10)

    def test_gradients_that_are_not_finite_stop_all_ranks_or_are_skipped(self):
        options = ("--optimizer", "sgd", "--schedule", "constant", "--lr", 1e6, "--epochs")
        job = self.run_job(2, *options, 1, "--on-nonfinite", "stop")
        self.assertNotEqual(job.returncode, 0)
        self.assertEqual(job.stdout.count("is not finite: it was not on rank"), 1, job.stdout)
        job = self.run_job(2, *options, 1, "--on-nonfinite", "skip")
        self.assertIn("steps were skipped", job.stdout)
        job = self.run_job(2, *options, 2, "--on-nonfinite", "skip")
        self.assertNotEqual(job.returncode, 0)
        self.assertRegex(job.stdout, r"all \d+ steps of epoch 2 were skipped.*lower --lr")

    @unittest.skipIf(pathlib.Path("/dev/nvidiactl").exists(), "there is a GPU here")
    def test_a_device_that_is_missing_is_named(self):
        job = self.run_job(2, "--epochs", 2, "--device", "cuda")
        self.assertNotEqual(job.returncode, 0)
        self.assertEqual(job.stdout.count("rondo: cuda: "), 1, job.stdout)

    def test_files_of_images_are_trained_on_and_tested_with(self):
        images = self.write("images", idx((40, 5, 4), [i * i % 251 for i in range(800)]))
        labels = self.write("labels.gz", gzip.compress(idx((40,), [i % 3 for i in range(40)])))
        output, _ = self.train(2, "--images", images, "--labels", labels, "--test-images", images,
                               "--test-labels", labels, "--epochs", 2)
        self.assertIn("(40 samples)", output)

    def test_bad_files_are_refused_once(self):
        labels = self.write("labels", idx((2,), [0, 1]))
        for name, contents in (("short", idx((2, 4, 4), range(31))), ("more", idx((3, 4, 4), range(48))),
                               ("flat", idx((2, 16), range(32))), ("tiny", idx((2, 3, 3), range(18)))):
            job = self.run_job(2, "--images", self.write(name, contents), "--labels", labels)
            self.assertNotEqual(job.returncode, 0)
            self.assertEqual(job.stdout.count(f"/{name}'"), 1, job.stdout)


if __name__ == "__main__":
    example_job.main()
