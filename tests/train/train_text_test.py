#!/usr/bin/env python3
"""Runs train_text as its users do, and checks what it prints, writes and returns.

usage: train_text_test.py PROGRAM LAUNCHER..."""

import re

import example_job


class TrainText(example_job.ExampleJob):
    def setUp(self):
        super().setUp()
        words = [f"{'in a no we he it'.split()[i * i % 37 % 6]}{' ' if i % 7 else chr(10)}" for i in range(400)]
        text = self.write("text", "".join(words).encode())
        self.text = ("--file", text, "--context", 16)
        self.small = (*self.text, "--width", 8, "--sample", 0)

    def test_n_ranks_train_the_model_of_one(self):
        for model in ("lstm", "transformer"):
            self.compare(1e-10, *self.small, "--model", model, "--layers", 2, "--epochs", 2, "--dtype", "f64")

    def test_it_learns_and_writes(self):
        output, _ = self.train(2, *self.text, "--width", 32, "--epochs", 40, "--sample", 50)
        score = re.search(r"test (\S+) bits per character, perplexity (\S+), .* \((\d+) characters\)", output)
        self.assertLess(float(score[1]), 1.5, output)  # 3.2 of an equal distribution
        self.assertAlmostEqual(2 ** float(score[1]), float(score[2]), delta=0.002)
        self.assertEqual(int(score[3]), 111)
        written = output[score.end() + 1:]
        self.assertEqual(len(written), 51, output)
        self.assertLessEqual(set(written), set(" \naehinotw"), output)
        self.assertGreater(len(re.findall(r"\b(in|a|no|we|he|it)\b", written)), 8, output)

    def test_a_resumed_run_is_the_one_that_was_interrupted(self):
        options = (*self.small, "--model", "transformer", "--epochs", 2)
        first, second = self.folder / "first", self.folder / "second"
        self.train(2, *options, "--checkpoint", first)
        self.train(2, *options, "--checkpoint", second, "--max-steps", 3)  # in the second epoch
        self.train(2, *options, "--checkpoint", second, "--resume", second)
        self.assert_same_checkpoint(first, second)

    def test_what_is_wrong_is_said_once(self):
        for options, *expected in (
                (("--file", self.write("empty", b"")), "/empty' has 0 characters"),
                (("--file", self.write("short", b"four"), "--context", 4), "/short' has 4 characters", "context of 4"),
                (("--file", "/nowhere"), "'/nowhere'"),
                (("--context", 0), "--context"),
                (("--schedule", "step"), "--decay-every"),
                (("--model", "rnn"), "--model", "transformer"),
                ((*self.small, "--model", "transformer", "--heads", 3), "--heads", "3 does not divide --width 8")):
            job = self.run_job(2, *options)
            self.assertNotEqual(job.returncode, 0)
            for words in expected:
                self.assertIn(words, job.stdout)
            self.assertEqual(job.stdout.count(expected[0]), 1, job.stdout)


if __name__ == "__main__":
    example_job.main()
