#!/usr/bin/env python3
"""Draws the results of allreduce_bench, latency and bus bandwidth over the size of the message; those of
overlap_bench; or a step of a training that RONDO_TRACE recorded.

    bench/plot.py FILE.json [FILE.json …] [--output PREFIX] [--title TEXT]
    bench/plot.py OVERLAP.json [--output PREFIX] [--title TEXT]
    bench/plot.py TRACE.json [--step N] [--output PREFIX] [--title TEXT]

Writes PREFIX.png and PREFIX.svg (default: the first file's name without .json). Files of several
runs become one picture: the same implementation in two files is told apart by the file's name. Rows
of another collective, type, operation or number of ranks get a picture each, PREFIX-WHAT.png.

Of overlap_bench's results it draws each implementation's step beside the bound. Of a trace it draws step N,
from 0 (default: one in the middle): when each rank computed, when it stood still, and when gradients were
on their way.

Needs Debian's python3-matplotlib.
"""

import argparse
import pathlib
import sys

from figures import COLORS, pyplot, save, ticker
from result_files import BadFile, GROUP, load, mpi_name, read, size_text
import overlap_steps
import timeline

MARKERS = ["o", "s", "^", "D", "v", "P", "X", "<"]
NAMES = {"rondo": "Rondo", "plan": "Rondo without agreement",
         "rondo-shared": "Rondo, shared buffers", "gloo": "Gloo", "limit": "memory limit"}
COLLECTIVES = {"allreduce": "all-reduce", "reduce_scatter": "reduce-scatter", "allgather": "all-gather"}


def label(impl, meta):
    if impl == "mpi" and meta.get("mpi"):
        return mpi_name(meta["mpi"])
    if impl.startswith("rondo:"):
        return f"Rondo, {impl.partition(':')[2]}"
    return NAMES.get(impl, impl)


class Curve:
    def __init__(self, impl, name):
        self.impl, self.name, self.rows = impl, name, []

    def points(self, value):
        points = sorted((row["bytes"], value(row)) for row in self.rows)
        return [p for p in points if p[1] > 0]


def curves_of(files):
    """{group: [curve]}, in the order of the files."""
    groups = {}
    for path, meta, rows in files:
        for row in rows:
            if row["bytes"] > 0:  # a barrier has no size
                key = tuple(row[name] for name in GROUP)
                curves = groups.setdefault(key, {})
                curve = curves.setdefault((path, row["impl"]), Curve(row["impl"], label(row["impl"], meta)))
                curve.rows.append(row)
    for curves in groups.values():
        names = [curve.name for curve in curves.values()]
        for (path, _), curve in curves.items():
            if names.count(curve.name) > 1:
                curve.name += f" ({path.stem})"
    return {key: list(curves.values()) for key, curves in groups.items()}


def format_sizes(axes, sizes):
    axes.set_xscale("log", base=2)
    smallest, largest = min(sizes), max(sizes)
    ticks = [8 ** k for k in range(12) if smallest <= 8 ** k <= largest]
    axes.set_xticks(ticks if len(ticks) > 1 else sorted(set(sizes)))
    axes.xaxis.set_major_formatter(ticker.FuncFormatter(lambda size, _: size_text(size)))
    axes.xaxis.set_minor_locator(ticker.NullLocator())
    axes.tick_params(axis="x", labelrotation=35, pad=1)
    pyplot.setp(axes.get_xticklabels(), ha="right", rotation_mode="anchor")
    axes.set_xlabel("message size")
    axes.grid(True, which="major")


def draw_panel(axes, curves, value):
    for i, curve in enumerate(curves):
        points = curve.points(value)
        if not points:
            continue
        look = {"color": COLORS[i % len(COLORS)], "marker": MARKERS[i % len(MARKERS)]}
        if curve.impl == "limit":
            look = {"color": "black", "linestyle": (0, (4, 2)), "linewidth": 1.0, "zorder": 1}
        axes.plot(*zip(*points), label=curve.name, markeredgewidth=0, **look)


def caption(group, metas):
    """What was measured, where."""
    collective, dtype, op, ranks, nodes, in_place = group
    what = [COLLECTIVES.get(collective, collective), dtype, *([op] if op != "-" else []),
            "in place" if in_place else "out of place",
            f"{ranks} rank{'s' * (ranks != 1)} on {nodes} node{'s' * (nodes != 1)}"]
    places = []
    for meta in metas:
        place = meta.get("platform") or meta.get("machine", "")
        if "processors" in meta:
            place += f", {meta['processors']} processors a node"
        places.append(place)
    return [", ".join(what), "; ".join(p for p in dict.fromkeys(places) if p)]


def draw(group, curves, metas, title):
    sizes = [row["bytes"] for curve in curves for row in curve.rows]
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(7.2, 3.6))
    lines = [*([title] if title else []), *filter(None, caption(group, metas))]
    columns = max(1, min(len(curves), 105 // (max(len(curve.name) for curve in curves) + 8)))
    above = 0.06 * -(-len(curves) // columns)
    figure.subplots_adjust(left=0.085, right=0.985, bottom=0.19 + 0.035 * len(lines), top=0.93 - above, wspace=0.2)
    draw_panel(left, curves, lambda row: row["time_us"]["p50"])
    left.set_yscale("log")
    left.yaxis.set_major_formatter(ticker.FuncFormatter(lambda y, _: f"{y:,g}"))
    left.set_ylabel("time (µs)")
    left.set_title("(a) latency: median of the slowest rank", loc="left")
    draw_panel(right, curves, lambda row: row["busbw_gbs"])
    right.set_ylim(bottom=0)
    right.set_ylabel("bus bandwidth (GB/s)")
    right.set_title("(b) bus bandwidth", loc="left")
    for axes in (left, right):
        format_sizes(axes, sizes)
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="upper center", ncols=columns, columnspacing=1.4, handlelength=2.4,
                  borderaxespad=0.2)
    figure.text(0.5, 0.015, "\n".join(lines), ha="center", va="bottom", fontsize=7, color="#444444")
    return figure


def prefix_of(prefix, group, several):
    if not several:
        return prefix
    collective, dtype, op, ranks, nodes, in_place = group
    words = [collective, dtype, *([op] if op != "-" else []), f"{ranks}x{nodes}", *(["in-place"] if in_place else [])]
    return prefix.with_name("-".join([prefix.name, *words]))


def draw_results(paths, prefix, title):
    files = []
    for path in paths:
        try:
            files.append((path, *load(path)))
        except BadFile as error:
            raise BadFile(f"{path}: {error}") from error
    groups = curves_of(files)
    if not groups:
        raise BadFile("no row has a size to draw over")
    for group, curves in groups.items():
        figure = draw(group, curves, [meta for _, meta, _ in files], title)
        save(figure, prefix_of(prefix, group, len(groups) > 1))


def draw_alone(path, figure_of, prefix):
    """`figure_of` what the file holds."""
    try:
        save(figure_of(read(path)), prefix)
    except BadFile as error:
        raise BadFile(f"{path}: {error}") from error


def kind_of(path):
    """What the file holds: "trace", "overlap" or "results"."""
    try:
        document = read(path)
    except BadFile:
        return "results"  # what is wrong is told when it is loaded
    if isinstance(document, dict) and isinstance(document.get("traceEvents"), list):
        return "trace"
    return "overlap" if isinstance(document, dict) and "work" in document else "results"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path, metavar="FILE.json")
    parser.add_argument("--output", type=pathlib.Path, metavar="PREFIX")
    parser.add_argument("--title", default="", help="a line of the caption, or the title of a step")
    parser.add_argument("--step", type=int, metavar="N", help="of a trace")
    options = parser.parse_args()
    prefix = options.output or options.files[0].with_suffix("")
    try:
        kind = kind_of(options.files[0])
        if kind != "results" and len(options.files) > 1:
            parser.error(f"{options.files[0]} is drawn alone")
        if kind != "trace" and options.step is not None:
            parser.error(f"--step: {options.files[0]} is no trace")
        if kind == "trace":
            draw_alone(options.files[0], lambda it: timeline.draw_step(it, options.step, options.title), prefix)
        elif kind == "overlap":
            draw_alone(options.files[0], lambda it: overlap_steps.draw(it, options.title), prefix)
        else:
            draw_results(options.files, prefix, options.title)
    except BadFile as error:
        sys.exit(f"plot.py: {error}")
    except OSError as error:
        sys.exit(f"plot.py: cannot write {error.filename}: {error.strerror}")


if __name__ == "__main__":
    main()
