#!/usr/bin/env python3
"""Trains train_digits' network in PyTorch, for a comparison: the same data, split, model and options.

    scripts/train_digits_in_pytorch.py [SEED…]      seeds 0 to 4 unless given

What differs is what random numbers give: initial parameters, order of the samples.
Needs torch (tried with 2.15) and numpy.
"""

import gzip
import math
import pathlib
import sys

import numpy
import torch
from torch import nn

DATA = pathlib.Path(__file__).parent.parent / "examples" / "data"
EPOCHS, BATCH, RATE, TEST_FRACTION = 30, 64, 0.002, 0.2
WORD = 2**64 - 1


def mix(z):
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & WORD
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & WORD
    return z ^ (z >> 31)


def permutation(count, seed, stream):
    """rondo::train::permutation."""
    state = mix((mix(seed) + stream) & WORD)
    order = list(range(count))
    for left in range(count, 1, -1):
        while True:
            state = (state + 0x9E3779B97F4A7C15) & WORD
            product = mix(state) * left
            if product & WORD >= 2**64 % left:
                break
        order[left - 1], order[product >> 64] = order[product >> 64], order[left - 1]
    return order


def read_idx(name):
    contents = gzip.decompress((DATA / name).read_bytes())
    shape = numpy.frombuffer(contents, ">u4", contents[3], 4)
    return torch.tensor(numpy.frombuffer(contents, numpy.uint8, offset=4 + 4 * len(shape)).reshape(shape))


def accuracy(seed, images, labels):
    order = permutation(len(labels), seed, WORD)
    tests = round(len(labels) * TEST_FRACTION)
    train, test = torch.tensor(order[:-tests]), torch.tensor(order[-tests:])
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                          nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                          nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)
    steps = EPOCHS * math.ceil(len(train) / BATCH)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for _ in range(EPOCHS):
        for batch in train[torch.randperm(len(train))].split(BATCH):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(images[batch]), labels[batch]).backward()
            optimizer.step()
            schedule.step()
    return (model(images[test]).argmax(1) == labels[test]).double().mean().item()


torch.set_num_threads(1)
images = read_idx("digits-images.idx3-ubyte.gz")[:, None].float() / 16
labels = read_idx("digits-labels.idx1-ubyte.gz").long()
seeds = [int(seed) for seed in sys.argv[1:]] or range(5)
results = [accuracy(seed, images, labels) for seed in seeds]
print("test accuracy", *(f"{result:.4f}" for result in results), f"mean {sum(results) / len(results):.4f}")
