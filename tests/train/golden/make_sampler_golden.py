#!/usr/bin/python3
"""Writes samplers.json: the order of PyTorch's DistributedSampler (made with PyTorch 1.13.0)."""
import itertools
import json
import pathlib

import torch
from torch.utils.data import DistributedSampler


def digest(values):
    """FNV-1a over the values as 64-bit words, a byte at a time."""
    state = 0xCBF29CE484222325
    for value in values:
        for byte in int(value).to_bytes(8, "little"):
            state = ((state ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return state


def orders():
    options = itertools.product([1, 2, 7, 10, 101], [1, 2, 3, 4, 8], [True, False], [True, False])
    for samples, ranks, shuffle, drop_last in options:
        for seed, epoch in [(0, 0), (0, 3), (12345, 1)]:
            indices = []
            for rank in range(ranks):
                sampler = DistributedSampler(range(samples), ranks, rank, shuffle, seed, drop_last)
                sampler.set_epoch(epoch)
                indices.append(list(sampler))
            yield {"samples": samples, "ranks": ranks, "shuffle": shuffle, "drop_last": drop_last,
                   "seed": seed, "epoch": epoch, "indices": indices}


def permutations():
    for samples, seed in [(0, 1), (1000, 2**32 + 5), (70_001, 7), (300_007, 2**40 + 2**31)]:
        order = torch.randperm(samples, generator=torch.Generator().manual_seed(seed)).tolist()
        yield {"samples": samples, "seed": seed, "first": order[:5], "last": order[-5:],
               "digest": digest(order)}


if __name__ == "__main__":
    path = pathlib.Path(__file__).with_name("samplers.json")
    golden = {"torch": torch.__version__, "orders": list(orders()),
              "permutations": list(permutations())}
    path.write_text(json.dumps(golden, separators=(",", ":")) + "\n")
