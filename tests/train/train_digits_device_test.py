#!/usr/bin/env python3
"""Sees that train_digits has the host's losses on a GPU; exits with 77 where there is none.

usage: train_digits_device_test.py PROGRAM LAUNCHER..."""

import os
import re

import example_job

MISSING = "there is no CUDA driver|sees no device|was built without CUDA"


class TrainDigitsOnADevice(example_job.ExampleJob):
    def test_losses_are_those_of_the_host(self):
        job = self.run_job(1, "--epochs", 1, "--device", "cuda")
        if missing := re.search(f".*({MISSING}).*", job.stdout):
            print(missing[0], flush=True)
            os._exit(77)  # which no test runner takes for a failure
        _, host = self.train(2, "--epochs", 2)
        for ranks in (1, 2, 4):
            _, device = self.train(ranks, "--epochs", 2, "--device", "cuda")
            self.assertEqual(len(device), len(host))
            for ours, theirs in zip(device, host):
                self.assertLess(abs(ours / theirs - 1), 1e-4, f"{ranks} ranks")


if __name__ == "__main__":
    example_job.main()
