#!/usr/bin/env python3
"""Trains train_text's models in PyTorch, for a comparison: the same data, split, models and options.

    scripts/train_text_in_pytorch.py lstm|transformer [SEED…]      seeds 0 to 2 unless given

What differs is what random numbers give: initial parameters, order of the samples. The text's last
characters, which do not fill a sample, are left out. Needs torch (tried with 2.15).
"""

import gzip
import math
import pathlib
import sys
import time

import torch
from torch import nn

TEXT = pathlib.Path(__file__).parent.parent / "examples" / "data" / "genesis.txt.gz"
EPOCHS, BATCH, RATE, TEST_FRACTION, CONTEXT, WIDTH, HEADS = 12, 32, 0.004, 0.1, 64, 128, 4


class Lstm(nn.Module):
    def __init__(self, characters):
        super().__init__()
        self.embedding = nn.Embedding(characters, WIDTH)
        self.lstm = nn.LSTM(WIDTH, WIDTH, batch_first=True)
        self.head = nn.Linear(WIDTH, characters)

    def forward(self, x):
        return self.head(self.lstm(self.embedding(x))[0])


class Transformer(nn.Module):
    def __init__(self, characters):
        super().__init__()
        self.embedding = nn.Embedding(characters, WIDTH)
        self.positions = nn.Parameter(0.02 * torch.randn(CONTEXT, WIDTH))
        self.norm1 = nn.LayerNorm(WIDTH)
        self.attention = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
        self.rest = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))
        self.head = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, characters))
        self.mask = torch.ones(CONTEXT, CONTEXT, dtype=torch.bool).triu(1)

    def forward(self, x):
        x = self.embedding(x) + self.positions
        normal = self.norm1(x)
        x = x + self.attention(normal, normal, normal, attn_mask=self.mask, need_weights=False)[0]
        return self.head(x + self.rest(x))


def loss_of(model, samples):
    """The sum over the predictions, in nats."""
    outputs = model(samples[:, :-1])
    return nn.functional.cross_entropy(outputs.flatten(0, 1), samples[:, 1:].flatten(), reduction="sum")


def bits_per_character(kind, seed):
    text = torch.tensor(list(gzip.decompress(TEXT.read_bytes())))
    alphabet, text = text.unique(return_inverse=True)
    samples = text.unfold(0, CONTEXT + 1, CONTEXT)
    tests = round(len(samples) * TEST_FRACTION)
    train, test = samples[:-tests], samples[-tests:]
    torch.manual_seed(seed)
    model = {"lstm": Lstm, "transformer": Transformer}[kind](len(alphabet))
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS * math.ceil(len(train) / BATCH))
    start = time.monotonic()
    for _ in range(EPOCHS):
        for batch in train[torch.randperm(len(train))].split(BATCH):
            optimizer.zero_grad()
            (loss_of(model, batch) / batch[:, 1:].numel()).backward()
            optimizer.step()
            schedule.step()
    speed = EPOCHS * len(train) * CONTEXT / (time.monotonic() - start)
    with torch.no_grad():
        return loss_of(model, test).item() / test[:, 1:].numel() / math.log(2), speed


torch.set_num_threads(1)
for seed in [int(seed) for seed in sys.argv[2:]] or range(3):
    bits, speed = bits_per_character(sys.argv[1], seed)
    print(f"seed {seed}: test {bits:.4f} bits per character, {speed:.0f} characters/s", flush=True)
