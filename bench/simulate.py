#!/usr/bin/env python3
"""Runs Rondo's all-reduce on clusters that SimGrid simulates, beside its selectors of other MPIs.

    bench/simulate.py [--ranks 64,256] [--max 8M] [--impl rondo,rondo:ring] [--json FILE]

Needs Debian's libsimgrid-dev, and a build of the preset "simulated":

    cmake --preset simulated && cmake --build build-simulated

The cluster is a fat tree of two levels with full bandwidth: 2^k ranks, one a host; links of
12.5 GB/s and 500 ns. Computation costs nothing, neither ours nor theirs. A result is exact, and the
same in every run. It goes to FILE in allreduce_bench's format.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SELECTORS = ["ompi", "mpich", "mvapich2", "impi"]
ROOT = pathlib.Path(__file__).resolve().parent.parent
UNITS = {"K": 1 << 10, "M": 1 << 20}
# Above, the messages of all ranks together need more memory than the simulation is given.
MOST_BYTES = {64: 8 << 20, 256: 8 << 20, 1024: 256 << 10}


def size(text):
    unit = UNITS.get(text[-1:].upper())
    return int(text[:-1]) * unit if unit else int(text)


def leaf_size(ranks):
    """Hosts below one switch: the power of two that is at least the square root."""
    leaf = 1
    while leaf * leaf < ranks:
        leaf *= 2
    return leaf


def write_platform(folder, ranks):
    leaf = leaf_size(ranks)
    leaves = -(-ranks // leaf)
    (folder / "cluster.xml").write_text(f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="cluster" prefix="host" suffix="" radical="0-{leaf * leaves - 1}" speed="100Gf"
           bw="12.5GBps" lat="500ns" topology="FAT_TREE"
           topo_parameters="2;{leaf},{leaves};1,{leaf};1,1"/>
</platform>
""")
    (folder / "hosts").write_text("".join(f"host{rank}\n" for rank in range(ranks)))


def simulate(program, ranks, selector, arguments):
    """One smpirun; returns its rows."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_platform(folder, ranks)
        rows = folder / "rows.json"
        command = ["smpirun", "-np", str(ranks), "-platform", "cluster.xml", "-hostfile", "hosts",
                   "-no-privatize", "--cfg=smpi/barrier:ompi_recursivedoubling", "--cfg=smpi/simulate-computation:no", "--cfg=smpi/shared-malloc:off",
                   f"--cfg=smpi/coll-selector:{selector}", "--log=root.thres:error",
                   str(program), "--json", str(rows), *arguments]
        environment = {**os.environ, "RONDO_SHM": "off", "RONDO_PROGRESS": "poll",
                       "RONDO_TIMEOUT": "31536000"}  # of real time, which says nothing here
        subprocess.run(command, cwd=folder, env=environment, check=True)
        return json.loads(rows.read_text())


def rows_of(options, ranks):
    most = min(options.max, MOST_BYTES.get(ranks, options.max))
    sizes = ["--min", str(options.min), "--max", str(most), "--factor", str(options.factor)]
    ours = [impl for impl in options.impl.split(",") if impl]
    rows = []
    if ours:
        extra = ["--impl", ",".join(ours)] + (["--segment", options.segment] if options.segment else [])
        rows += simulate(options.program, ranks, "default", [*sizes, *extra])
    for selector in options.selectors.split(","):
        if selector:
            rows += simulate(options.program, ranks, selector,
                             [*sizes, "--impl", "mpi", "--mpi-name", f"smpi-{selector}"])
    return rows


def time_of(row):
    return row["time_us"]["p50"]


def report(rows):
    """Rondo beside the best selector, per size; returns the ratios."""
    ratios = []
    print(f"{'ranks':>6} {'bytes':>9} {'rondo':>10} {'best':>10}  {'of':<16} rondo/best  algorithm")
    for ranks, bytes_ in sorted({(row["ranks"], row["bytes"]) for row in rows}):
        here = [r for r in rows if (r["ranks"], r["bytes"]) == (ranks, bytes_)]
        rondo = [r for r in here if r["impl"] == "rondo"]
        peers = [r for r in here if r["impl"].startswith("smpi-")]
        if not rondo or not peers:
            continue
        best = min(peers, key=time_of)
        ratios.append(time_of(rondo[0]) / time_of(best))
        print(f"{ranks:>6} {bytes_:>9} {time_of(rondo[0]):>10.2f} {time_of(best):>10.2f}  "
              f"{best['impl']:<16} {ratios[-1]:>10.3f}  {rondo[0]['algorithm']}")
    return ratios


def write(path, rows):
    """One row a line."""
    meta = {"machine": "simulated by SimGrid 3.32 (SMPI)",
            "platform": "fat tree of two levels, links of 12.5 GB/s and 500 ns, one rank a host",
            "command": " ".join(["bench/simulate.py", *sys.argv[1:]])}
    lines = ",\n".join(json.dumps(row) for row in rows)
    path.write_text(f'{{"meta": {json.dumps(meta)},\n"rows": [\n{lines}\n]}}\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--ranks", default="64,256,1024")
    parser.add_argument("--min", type=size, default=8)
    parser.add_argument("--max", type=size, default=8 << 20, help="less where memory is the limit")
    parser.add_argument("--factor", type=int, default=2)
    parser.add_argument("--impl", default="rondo,plan",
                        help="rondo, rondo:ALGORITHM; plan, plan:ALGORITHM: without the agreement")
    parser.add_argument("--selectors", default=",".join(SELECTORS), help="SMPI's; may be empty")
    parser.add_argument("--segment", default="", help="Options::segment_bytes")
    parser.add_argument("--program", type=pathlib.Path,
                        default=ROOT / "build-simulated" / "simulated_allreduce")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    rows = []
    for ranks in options.ranks.split(","):
        rows += rows_of(options, int(ranks))
        if options.json:
            write(options.json, rows)
    ratios = report(rows)
    if ratios:
        mean = 1.0
        for ratio in ratios:
            mean *= ratio ** (1 / len(ratios))
        print(f"geometric mean {mean:.3f}, worst {max(ratios):.3f}")
    if any(row["wrong"] for row in rows):
        sys.exit("a result was wrong")


if __name__ == "__main__":
    main()
