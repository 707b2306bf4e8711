#!/usr/bin/env python3
"""Writes what PyTorch trains in mixed precision into bfloat16.json, beside this file.

Needs torch (made with 2.15): python3 tests/train/golden/make_bfloat16_golden.py
Two linear layers with tanh in between, of float32 master weights: whole batches, mean squared error
(half of it), SGD with momentum. Parameters, and each linear layer's input and output gradient, are
rounded to bfloat16; products add up in float32. "full" is the same training without rounding.
"""

import json
import pathlib

import torch

ROWS, INPUTS, HIDDEN, OUTPUTS, STEPS, RATE = 16, 6, 8, 3, 30, 0.2


def rounded(tensor):
    return tensor.to(torch.bfloat16).float()


class RoundedLinear(torch.autograd.Function):
    """x·Wᵀ + b of rounded x, W and b, whose gradients are for the weights as they were."""

    @staticmethod
    def forward(context, x, weight, bias):
        x, weight, bias = rounded(x), rounded(weight), rounded(bias)
        context.save_for_backward(x, weight)
        return x @ weight.T + bias

    @staticmethod
    def backward(context, gradient):
        x, weight = context.saved_tensors
        gradient = rounded(gradient)
        return gradient @ weight, gradient.T @ x, gradient.sum(0)


def train(start, x, target, linear):
    parameters = [p.clone().requires_grad_() for p in start]
    w1, b1, w2, b2 = parameters
    optimizer = torch.optim.SGD(parameters, lr=RATE, momentum=0.9)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        y = linear(torch.tanh(linear(x, w1, b1)), w2, b2)
        loss = ((y - target) ** 2).sum() / 2 / ROWS
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return {"losses": losses, "parameters": [p.detach().flatten().tolist() for p in parameters]}


torch.manual_seed(3)
x, target = torch.randn(ROWS, INPUTS), torch.randn(ROWS, OUTPUTS)
start = [torch.randn(HIDDEN, INPUTS) / 2, torch.randn(HIDDEN) / 2,
         torch.randn(OUTPUTS, HIDDEN) / 2, torch.randn(OUTPUTS) / 2]
contents = {
    "rows": ROWS, "rate": RATE, "momentum": 0.9, "x": x.flatten().tolist(), "target": target.flatten().tolist(),
    "start": [p.flatten().tolist() for p in start],
    "bfloat16": train(start, x, target, RoundedLinear.apply),
    "full": train(start, x, target, torch.nn.functional.linear)}
path = pathlib.Path(__file__).parent / "bfloat16.json"
path.write_text(json.dumps(contents, indent=1) + "\n")
for step, (a, b) in enumerate(zip(contents["bfloat16"]["losses"], contents["full"]["losses"])):
    print(step, a, b, a / b - 1)
