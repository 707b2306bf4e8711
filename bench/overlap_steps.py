"""Draws what overlap_bench measured: each implementation's step beside the bound; for plot.py."""

from figures import COLORS, pyplot
from result_files import BadFile, mpi_name

COMPUTE, EXPOSED, COMMUNICATION = COLORS[0], COLORS[1], COLORS[2]
NAMES = {"rondo": "Rondo's reducer", "each": "one blocking\nall-reduce each", "all": "one blocking\nall-reduce of all",
         "iallreduce": "MPI_Iallreduce\nper bucket"}
VALUES = ["step_ms", "communication_ms", "ratio"]


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0


def check(document):
    work, rows = document["work"], document.get("rows")
    if not isinstance(work, dict) or not all(is_number(work.get(name)) for name in ("compute_ms", "bound_ms", "bytes")):
        raise BadFile("\"work\" has no valid \"compute_ms\", \"bound_ms\" and \"bytes\"")
    if not isinstance(rows, list) or not rows:
        raise BadFile("there are no rows")
    for row in rows:
        if not isinstance(row, dict) or not isinstance(row.get("impl"), str) or \
                not all(is_number(row.get(name)) for name in VALUES):
            raise BadFile("a row has no valid \"impl\", " + ", ".join(f'"{name}"' for name in VALUES))


def caption(document):
    """What was measured, where."""
    meta, work = document.get("meta") or {}, document["work"]
    what = f"{work['bytes'] / (1 << 20):.1f} MiB of gradients"
    if "ranks" in meta and "nodes" in meta:
        what += f", {meta['ranks']} ranks on {meta['nodes']} nodes"
    place = ", ".join(filter(None, [meta.get("machine", ""), mpi_name(meta["mpi"]) if meta.get("mpi") else ""]))
    return "\n".join(filter(None, [what, place]))


def draw(document, title):
    """The figure of a document that overlap_bench --json wrote. Raises BadFile."""
    check(document)
    work, rows = document["work"], document["rows"]
    figure, axes = pyplot.subplots(figsize=(6.4, 1.5 + 0.55 * len(rows)))
    for place, row in enumerate(rows):
        within = min(row["step_ms"], work["compute_ms"])
        axes.barh(place, within, 0.5, color=COMPUTE)
        axes.barh(place, row["step_ms"] - within, 0.5, left=within, color=EXPOSED)
        axes.barh(place + 0.36, row["communication_ms"], 0.14, color=COMMUNICATION)
        axes.annotate(f"{row['ratio']:.2f} × bound", (row["step_ms"], place), (4, 0), textcoords="offset points",
                      va="center")
    axes.axvline(work["bound_ms"], color="black", linestyle=(0, (4, 2)), linewidth=1.0)
    axes.set_yticks(range(len(rows)), [NAMES.get(row["impl"], row["impl"]) for row in rows])
    axes.invert_yaxis()
    axes.set_xlim(0, 1.18 * max(max(row["step_ms"], row["communication_ms"]) for row in rows))
    axes.set_xlabel("time (ms)\n" + caption(document))
    if title:
        axes.set_title(title, loc="left", pad=22)
    keys = [pyplot.Rectangle((0, 0), 1, 1, color=color) for color in (COMPUTE, EXPOSED, COMMUNICATION)]
    keys.append(pyplot.Line2D([], [], color="black", linestyle=(0, (4, 2)), linewidth=1.0))
    axes.legend(keys, ["backward alone", "step beyond it", "communication alone", "bound"], loc="lower left",
                bbox_to_anchor=(0, 1.0), ncols=4, borderaxespad=0.2, columnspacing=1.4)
    figure.tight_layout()
    return figure
