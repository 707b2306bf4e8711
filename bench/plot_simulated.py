#!/usr/bin/env python3
"""Draws what bench/simulate.py wrote: time over message size, one panel for each number of ranks.

    bench/plot_simulated.py results.json picture.svg        (or .png)
"""

import json
import sys

import matplotlib

matplotlib.use("Agg")
matplotlib.rcParams["svg.hashsalt"] = "rondo"  # the same picture gives the same file
import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter

STYLES = {
    "rondo": {"label": "Rondo", "color": "#c1272d", "linewidth": 2.2},
    "plan": {"label": "Rondo, data alone", "color": "#c1272d", "linewidth": 1, "linestyle": ":"},
    "smpi-ompi": {"label": "SMPI as Open MPI", "color": "#1f5a99"},
    "smpi-mpich": {"label": "SMPI as MPICH", "color": "#5b9bd5"},
    "smpi-mvapich2": {"label": "SMPI as MVAPICH2", "color": "#2e8b57"},
    "smpi-impi": {"label": "SMPI as Intel MPI", "color": "#999999"},
}


def bytes_text(value, _=None):
    for unit in ("B", "KiB", "MiB"):
        if value < 1024:
            return f"{value:g} {unit}"
        value /= 1024
    return f"{value:g} GiB"


def draw_panel(axes, rows, ranks):
    for impl, style in STYLES.items():
        points = sorted((row["bytes"], row["time_us"]["p50"]) for row in rows
                        if row["ranks"] == ranks and row["impl"] == impl)
        if points:
            axes.plot(*zip(*points), **style)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_title(f"{ranks} ranks")
    axes.set_xlabel("message")
    axes.xaxis.set_major_formatter(FuncFormatter(bytes_text))
    axes.set_xticks([8 ** power for power in range(1, 8)])
    axes.set_xlim(8, 8 << 20)
    axes.tick_params(axis="x", labelrotation=40)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.grid(True, which="major", linewidth=0.4, alpha=0.6)


def main():
    source, target = sys.argv[1:3]
    with open(source, encoding="utf-8") as file:
        rows = json.load(file)["rows"]
    sizes = sorted({row["ranks"] for row in rows})
    figure, panels = plt.subplots(1, len(sizes), figsize=(4.2 * len(sizes), 4), sharey=True, squeeze=False)
    for axes, ranks in zip(panels[0], sizes):
        draw_panel(axes, rows, ranks)
    panels[0][0].set_ylabel("time of an all-reduce of float32, µs")
    panels[0][0].legend(fontsize=8, frameon=False)
    figure.tight_layout()
    figure.savefig(target, dpi=150, metadata={"Date": None} if target.endswith(".svg") else None)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main()
