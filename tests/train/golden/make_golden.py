#!/usr/bin/env python3
"""Writes what PyTorch computes into optimizers.json, schedules.json and linear.json, beside this file.

Needs torch (made with 1.13; schedules.json with 2.15): python3 tests/train/golden/make_golden.py
The tests of the training runtime compare their results with these files.
"""

import json
import pathlib

import torch
from torch.optim import SGD, Adam, AdamW, RMSprop
from torch.optim.lr_scheduler import CosineAnnealingLR, LambdaLR, StepLR

FOLDER = pathlib.Path(__file__).parent
DTYPES = {"float32": torch.float32, "float64": torch.float64}
STEPS = 100
SNAPSHOTS = (1, 2, 10, 50, 100)  # steps after which the values are recorded
SHAPES = ([2, 3], [1])

OPTIMIZERS = [
    ("sgd", SGD, 0.1, {}),
    ("sgd", SGD, 0.1, {"weight_decay": 0.05}),
    ("sgd", SGD, 0.05, {"momentum": 0.9}),
    ("sgd", SGD, 0.05, {"momentum": 0.9, "nesterov": True}),
    ("sgd", SGD, 0.05, {"momentum": 0.8, "nesterov": True, "weight_decay": 0.1}),
    ("adam", Adam, 0.01, {}),
    ("adam", Adam, 0.01, {"weight_decay": 0.1}),
    ("adam", Adam, 0.02, {"betas": (0.8, 0.9), "eps": 0.125}),
    ("adamw", AdamW, 0.01, {}),
    ("adamw", AdamW, 0.02, {"betas": (0.8, 0.95), "weight_decay": 0.5}),
    ("rmsprop", RMSprop, 0.01, {}),
    ("rmsprop", RMSprop, 0.01, {"alpha": 0.9, "eps": 0.125}),
    ("rmsprop", RMSprop, 0.01, {"centered": True}),
    ("rmsprop", RMSprop, 0.01, {"momentum": 0.9, "weight_decay": 0.1}),
    ("rmsprop", RMSprop, 0.005, {"alpha": 0.9, "eps": 0.01, "momentum": 0.5, "centered": True}),
]


def numbers(tensor):
    """A tensor's elements as numbers that read back as the same bits."""
    digits = ".9g" if tensor.dtype == torch.float32 else ".17g"
    return [float(format(x, digits)) for x in tensor.detach().flatten().tolist()]


def count(shape):
    return int(torch.tensor(shape).prod())


def trajectory(kind, rate, options, dtype, start, gradients):
    values = [torch.tensor(s, dtype=dtype).reshape(shape) for s, shape in zip(start, SHAPES)]
    optimizer = kind(values, lr=rate, **options)
    snapshots = []
    for step in range(1, STEPS + 1):
        flat = torch.tensor(gradients[step - 1], dtype=dtype) / 64
        values[0].grad = flat[: count(SHAPES[0])].reshape(SHAPES[0])
        values[1].grad = flat[count(SHAPES[0]) :].reshape(SHAPES[1])
        for group in optimizer.param_groups:  # a rate that changes in every step
            group["lr"] = rate * (1 - (step - 1) / (2 * STEPS))
        optimizer.step()
        if step in SNAPSHOTS:
            snapshots.append({"step": step, "values": [numbers(v) for v in values]})
    return snapshots


def optimizers():
    generator = torch.Generator().manual_seed(1)
    elements = sum(count(shape) for shape in SHAPES)
    gradients = torch.randint(-128, 129, (STEPS, elements), generator=generator).tolist()
    start = [[0.5, -1.25, 2.0, -0.75, 0.125, 1.5], [-0.375]]
    cases = []
    for name, kind, rate, options in OPTIMIZERS:
        for dtype_name, dtype in DTYPES.items():
            cases.append({
                "optimizer": name, "dtype": dtype_name, "rate": rate, "options": options,
                "snapshots": trajectory(kind, rate, options, dtype, start, gradients)})
    return {"rate": "in step s = 0, 1, …: rate * (1 - s/200)", "shapes": SHAPES, "start": start,
            "gradients_times_64": gradients, "cases": cases}


def rates(schedule_of, steps):
    parameter = torch.zeros(1, requires_grad=True)
    optimizer = SGD([parameter], lr=0.3)
    schedule = schedule_of(optimizer)
    result = []
    for _ in range(steps):
        result.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        schedule.step()
    return result


def schedules():
    warm = lambda step: min(1.0, (step + 1) / 7)
    return [
        {"shape": "constant", "warmup": 0, "total": 20,
         "rates": rates(lambda o: LambdaLR(o, lambda step: 1.0), 20)},
        {"shape": "constant", "warmup": 7, "total": 20, "rates": rates(lambda o: LambdaLR(o, warm), 20)},
        {"shape": "cosine", "warmup": 0, "total": 20,
         "rates": rates(lambda o: CosineAnnealingLR(o, T_max=20), 21)},
        # After warm-up, cosine over the rest: PyTorch's own schedule, put behind the ramp.
        {"shape": "cosine", "warmup": 7, "total": 20,
         "rates": rates(lambda o: LambdaLR(o, warm), 7) + rates(lambda o: CosineAnnealingLR(o, T_max=13), 14)},
        {"shape": "step", "warmup": 0, "total": 20, "every": 4, "decay": 0.3,
         "rates": rates(lambda o: StepLR(o, 4, 0.3), 20)},
        {"shape": "step", "warmup": 7, "total": 20, "every": 5, "decay": 0.5,
         "rates": rates(lambda o: LambdaLR(o, warm), 7) + rates(lambda o: StepLR(o, 5, 0.5), 13)},
    ]


def linear(dtype_name, dtype, rows, inputs, outputs, generator):
    draw = lambda *shape: (torch.randint(-40, 41, shape, generator=generator) / 16).to(dtype)
    layer = torch.nn.Linear(inputs, outputs, dtype=dtype)
    x, target = draw(rows, inputs).requires_grad_(), draw(rows, outputs)
    with torch.no_grad():
        layer.weight.copy_(draw(outputs, inputs))
        layer.bias.copy_(draw(outputs))
    y = layer(x)
    loss = torch.nn.MSELoss(reduction="sum")(y, target)
    loss.backward()
    return {"dtype": dtype_name, "rows": rows, "inputs": inputs, "outputs": outputs,
            "x": numbers(x), "target": numbers(target),
            "weight": numbers(layer.weight), "bias": numbers(layer.bias),
            "y": numbers(y), "loss": loss.item(), "weight_gradient": numbers(layer.weight.grad),
            "bias_gradient": numbers(layer.bias.grad), "x_gradient": numbers(x.grad)}


def linears():
    generator = torch.Generator().manual_seed(2)
    sizes = [(5, 3, 2), (5, 3, 1), (1, 4, 3), (4, 1, 1), (3, 1, 2)]
    return [linear(name, dtype, *size, generator) for size in sizes for name, dtype in DTYPES.items()]


def write(name, content):
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    (FOLDER / name).write_text(text.replace('{"optimizer"', '\n{"optimizer"').replace('{"dtype"', '\n{"dtype"')
                               .replace('{"shape"', '\n{"shape"') + "\n")


torch.set_num_threads(1)
write("optimizers.json", optimizers())
write("schedules.json", schedules())
write("linear.json", linears())
