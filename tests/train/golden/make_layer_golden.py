#!/usr/bin/env python3
"""Writes what PyTorch computes into layers.json and trainings.json, beside this file.

Needs torch (made with 2.15): python3 tests/train/golden/make_layer_golden.py
Everything is computed in float64. layers.json has each layer's and loss's outputs and gradients;
trainings.json has the losses of 100 steps of small models, each with another optimizer and schedule.
"""

import json
import math
import pathlib

import torch
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingLR, LambdaLR, SequentialLR, StepLR

FOLDER = pathlib.Path(__file__).parent
ROWS = 3
STEPS = 100
GENERATOR = torch.Generator().manual_seed(4)


def draw(*shape):
    """Multiples of 1/16 in [-1, 1], which every type holds."""
    return torch.randint(-16, 17, shape, generator=GENERATOR).double() / 16


def numbers(tensor):
    return [float(format(x, ".17g")) for x in tensor.detach().flatten().tolist()]


class Embed(nn.Embedding):
    def forward(self, x):
        return super().forward(x.long())


class Positions(nn.Module):
    def __init__(self, positions, width):
        super().__init__()
        self.embedding = nn.Embedding(positions, width)

    def forward(self, x):
        return x + self.embedding(torch.arange(x.shape[1]))


class Lstm(nn.LSTM):
    def __init__(self, features, hidden):
        super().__init__(features, hidden, batch_first=True)

    def forward(self, x):
        return super().forward(x)[0]


class Attention(nn.MultiheadAttention):
    def __init__(self, width, heads):
        super().__init__(width, heads, batch_first=True)

    def forward(self, x):
        length = x.shape[1]
        mask = torch.ones(length, length, dtype=torch.bool).triu(1)
        return super().forward(x, x, x, attn_mask=mask, need_weights=False)[0]


class Residual(nn.Module):
    def __init__(self, *inner):
        super().__init__()
        self.inner = nn.Sequential(*inner)

    def forward(self, x):
        return x + self.inner(x)


# Kind, options for the tests, module, shape of one sample.
LAYERS = [
    ("linear", {"inputs": 4, "outputs": 3}, nn.Linear(4, 3), [4]),
    ("conv2d", {"image": [2, 5, 4], "channels": 3, "window": [3, 1, 1]}, nn.Conv2d(2, 3, 3, 1, 1), [2, 5, 4]),
    ("conv2d", {"image": [1, 7, 6], "channels": 2, "window": [3, 2, 0]}, nn.Conv2d(1, 2, 3, 2, 0), [1, 7, 6]),
    ("max_pool2d", {"image": [2, 6, 5], "window": [2, 2, 0]}, nn.MaxPool2d(2, 2, 0), [2, 6, 5]),
    ("max_pool2d", {"image": [1, 5, 5], "window": [3, 2, 1]}, nn.MaxPool2d(3, 2, 1), [1, 5, 5]),
    ("relu", {"features": 6}, nn.ReLU(), [6]),
    ("tanh", {"features": 6}, nn.Tanh(), [6]),
    ("sigmoid", {"features": 6}, nn.Sigmoid(), [6]),
    ("gelu", {"features": 6}, nn.GELU(), [6]),
    ("flatten", {"features": 6}, nn.Flatten(), [2, 3]),
    ("embedding", {"positions": 4, "count": 5, "width": 3}, Embed(5, 3), [4]),
    ("layer_norm", {"features": 5}, nn.LayerNorm(5), [5]),
    ("lstm", {"positions": 4, "features": 3, "hidden": 2}, Lstm(3, 2), [4, 3]),
    ("attention", {"positions": 4, "width": 6, "heads": 2}, Attention(6, 2), [4, 6]),
    ("residual", {"features": 4}, Residual(nn.Linear(4, 4)), [4]),
]


def layer_case(kind, options, module, shape):
    module = module.double()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(draw(*parameter.shape))
    words = kind == "embedding"
    x = torch.randint(0, 5, (ROWS, *shape), generator=GENERATOR).double() if words else draw(ROWS, *shape)
    x.requires_grad_(not words)
    y = module(x)
    y_gradient = draw(*y.shape)
    y.backward(y_gradient)
    return {"layer": kind, "options": options, "rows": ROWS, "x": numbers(x), "y": numbers(y),
            "y_gradient": numbers(y_gradient), "x_gradient": [] if words else numbers(x.grad),
            "parameters": [numbers(p) for p in module.parameters()],
            "parameter_gradients": [numbers(p.grad) for p in module.parameters()]}


def cross_entropy(ignored=None):
    """Row `ignored` has no target: PyTorch's ignore_index, kNoTarget in Rondo."""
    logits = (4 * draw(5, 4)).requires_grad_()
    targets = torch.randint(0, 4, (5,), generator=GENERATOR)
    if ignored is not None:
        targets[ignored] = -100
    loss = nn.CrossEntropyLoss(reduction="sum")(logits, targets)
    loss.backward()
    return {"logits": numbers(logits), "targets": [t if t >= 0 else 2**32 - 1 for t in targets.tolist()],
            "loss": loss.item(), "gradient": numbers(logits.grad)}


def warmed(optimizer, steps, after):
    ramp = LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / steps))
    return SequentialLR(optimizer, [ramp, after], [steps])


# The models of tests/train/layer_golden_test.cpp; 6 samples of 4 classes, words for the last two.
TRAININGS = {
    "mlp": (lambda: nn.Sequential(nn.Linear(36, 8), nn.Tanh(), nn.Linear(8, 6), nn.Sigmoid(), nn.Linear(6, 4)),
            lambda p: torch.optim.RMSprop(p, lr=0.01),
            lambda o: LambdaLR(o, lambda step: 1.0)),
    "cnn": (lambda: nn.Sequential(nn.Unflatten(1, (1, 6, 6)), nn.Conv2d(1, 3, 3, 1, 1), nn.ReLU(), nn.MaxPool2d(2, 2),
                                  nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4, 4)),
            lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, nesterov=True),
            lambda o: warmed(o, 10, StepLR(o, 30, 0.5))),
    "lstm": (lambda: nn.Sequential(Embed(7, 5), Lstm(5, 4), nn.Flatten(), nn.Linear(24, 4)),
             lambda p: torch.optim.Adam(p, lr=0.02),
             lambda o: StepLR(o, 20, 0.7)),
    "transformer": (lambda: nn.Sequential(
        Embed(7, 8), Residual(nn.LayerNorm(8), Attention(8, 2)),
        Residual(nn.LayerNorm(8), nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 8)), nn.Flatten(), nn.Linear(48, 4)),
        lambda p: torch.optim.AdamW(p, lr=0.01),
        lambda o: warmed(o, 10, CosineAnnealingLR(o, T_max=STEPS - 10))),
}


def training(name, make_model, make_optimizer, make_schedule):
    model = make_model().double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(draw(*parameter.shape) * (0.5 if parameter.dim() > 1 else 0.125))
    start = [numbers(p) for p in model.parameters()]
    words = name in ("lstm", "transformer")
    x = torch.randint(0, 7, (6, 6), generator=GENERATOR).double() if words else draw(6, 36)
    targets = torch.randint(0, 4, (6,), generator=GENERATOR)
    optimizer = make_optimizer(list(model.parameters()))
    schedule = make_schedule(optimizer)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = nn.CrossEntropyLoss()(model(x), targets)
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 2 and math.isfinite(losses[-1]), (name, losses)
    return {"model": name, "x": numbers(x), "targets": targets.tolist(), "start": start, "losses": losses,
            "end": [numbers(p) for p in model.parameters()]}


def write(name, content):
    text = json.dumps(content, separators=(",", ":"))
    (FOLDER / name).write_text(text.replace('{"layer"', '\n{"layer"').replace('{"model"', '\n{"model"') + "\n")


torch.set_num_threads(1)
layers = [layer_case(*one) for one in LAYERS]
cross_entropies = [cross_entropy()]
write("trainings.json", [training(name, *parts) for name, parts in TRAININGS.items()])
# What came later is drawn last, so that the numbers above stay what they were.
layers.append(layer_case("position_embedding", {"positions": 3, "width": 2}, Positions(3, 2), [3, 2]))
cross_entropies.append(cross_entropy(ignored=2))
write("layers.json", {"layers": layers, "cross_entropy": cross_entropies})
