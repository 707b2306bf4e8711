#!/usr/bin/env python3
"""Puts Rondo beside the best of its peers, from runs of allreduce_bench: compare.sh makes them.

    bench/compare.py FILE.json… [--range MIN:MAX]… [--quantile Q] [--absent NAME]… [--json FILE] [--csv FILE]

A time is the median over the files of their medians, or another quantile: on a machine that runs at two
speeds, 0.15 compares the faster one's with the faster one's. Prints, for each size, what every implementation
takes, which peer is the best there, and how many times as fast as that one Rondo is: > 1, Rondo is
faster. The geometric means are over all sizes, and over those of each --range (8:2K).

--json writes all implementations in allreduce_bench's format, so that plot.py draws them, with the
comparison beside them; --csv writes the comparison.
"""

import argparse
import csv
import json
import pathlib
import statistics
import sys

from result_files import BadFile, GROUP, load, mpi_name, size_text

UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
NAMES = {"gloo": "Gloo"}


def size_of(text):
    unit = UNITS.get(text[-1:].upper())
    return int(text[:-1]) * unit if unit else int(text)


def range_of(text):
    """(8, 2048) of "8:2K"."""
    try:
        least, most = map(size_of, text.split(":"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is no MIN:MAX, such as 8:2K") from None
    return least, most


def fraction_of(text):
    try:
        fraction = float(text)
    except ValueError:
        fraction = -1.0
    if not 0.0 <= fraction <= 1.0:
        raise argparse.ArgumentTypeError(f"'{text}' is not between 0 and 1")
    return fraction


def is_ours(impl):
    return impl.startswith("rondo")


def implementation(row, meta):
    return mpi_name(meta.get("mpi", "mpi")) if row["impl"] == "mpi" else NAMES.get(row["impl"], row["impl"])


def quantile_of(values, quantile):
    """Between the two nearest; 0.5 is the median."""
    ordered = sorted(values)
    below = int(quantile * (len(ordered) - 1))
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (quantile * (len(ordered) - 1) - below) * (ordered[above] - ordered[below])


def merged(rows, impl, quantile):
    """One row of those of several runs."""
    times = [row["time_us"] for row in rows]
    p50 = quantile_of((time["p50"] for time in times), quantile)
    scale = rows[0]["time_us"]["p50"] / p50  # bandwidths go with the time
    summary = {"min": min(time.get("min", time["p50"]) for time in times), "p50": p50,
               "p99": statistics.median(time.get("p99", time["p50"]) for time in times),
               "max": max(time.get("max", time["p50"]) for time in times)}
    return {**rows[0], "impl": impl, "time_us": summary, "runs": len(rows),
            "algbw_gbs": rows[0].get("algbw_gbs", 0) * scale, "busbw_gbs": rows[0]["busbw_gbs"] * scale,
            "wrong": sum(row.get("wrong", 0) for row in rows)}


def merge(files, quantile):
    """A row for each (group, size, implementation), in the order of the files."""
    together = {}
    for meta, rows in files:
        for row in rows:
            impl = implementation(row, meta)
            key = (*(row[name] for name in GROUP), row["bytes"], impl)
            together.setdefault(key, []).append(row)
    return [merged(rows, key[-1], quantile) for key, rows in together.items()]


def time_of(row):
    return row["time_us"]["p50"]


def compare(rows):
    """For each size that has both: its group, its rows by implementation, the best peer and Rondo's ratios."""
    sizes = {}
    for row in rows:
        sizes.setdefault((*(row[name] for name in GROUP), row["bytes"]), {})[row["impl"]] = row
    found = []
    for key, here in sorted(sizes.items()):
        ours = {impl: row for impl, row in here.items() if is_ours(impl)}
        peers = [row for impl, row in here.items() if not is_ours(impl) and impl != "limit"]
        if not ours or not peers:
            continue
        best = min(peers, key=time_of)
        found.append({**dict(zip(GROUP, key)), "bytes": key[-1], "best": best["impl"], "best_us": time_of(best),
                      "times_us": {impl: time_of(row) for impl, row in here.items()},
                      "ratios": {impl: time_of(best) / time_of(row) for impl, row in ours.items()}})
    return found


def means_of(comparison, ranges):
    """Geometric means of the ratios: [{"from", "to", "sizes", "ratios", "worst"}]."""
    means = []
    for least, most in ranges:
        here = [entry["ratios"] for entry in comparison if least <= entry["bytes"] <= most]
        ours = {impl: [ratios[impl] for ratios in here if impl in ratios] for ratios in here for impl in ratios}
        means.append({"from": least, "to": most, "sizes": len(here),
                      "ratios": {impl: statistics.geometric_mean(values) for impl, values in ours.items()},
                      "worst": {impl: min(values) for impl, values in ours.items()}})
    return means


def names_in(comparison, key):
    return list(dict.fromkeys(name for entry in comparison for name in entry[key]))


def print_table(group, comparison, quantile):
    """In Markdown."""
    collective, dtype, op, ranks, nodes, in_place = group
    print(f"\n{collective}, {dtype}, {op}, {'in place' if in_place else 'out of place'}, "
          f"{ranks} rank{'s' * (ranks != 1)} on {nodes} node{'s' * (nodes != 1)}; times in µs, "
          f"{'medians' if quantile == 0.5 else f'quantile {quantile:g}'} of the runs\n")
    impls = sorted(names_in(comparison, "times_us"), key=is_ours)
    ours = names_in(comparison, "ratios")
    print("| size | " + " | ".join([*impls, "best peer", *(f"best / {impl}" for impl in ours)]) + " |")
    print("|---" * (2 + len(impls) + len(ours)) + "|")
    for entry in comparison:
        cells = [f"{entry['times_us'][impl]:.2f}" if impl in entry["times_us"] else "-" for impl in impls]
        ratios = [f"{entry['ratios'][impl]:.2f}" if impl in entry["ratios"] else "-" for impl in ours]
        print(f"| {size_text(entry['bytes'])} | " + " | ".join([*cells, entry["best"], *ratios]) + " |")


def print_means(means):
    print()
    for mean in means:
        where = f"{size_text(mean['from'])} to {size_text(mean['to'])}"
        for impl, ratio in mean["ratios"].items():
            print(f"geometric mean, {where}: {impl} is {ratio:.2f} times as fast as the best peer, "
                  f"{mean['worst'][impl]:.2f} at worst ({mean['sizes']} sizes)")
        if not mean["ratios"]:
            print(f"geometric mean, {where}: no size was measured there")


def report(comparison, options):
    """Prints everything; returns the means of each group."""
    groups = {}
    for entry in comparison:
        groups.setdefault(tuple(entry[name] for name in GROUP), []).append(entry)
    all_means = []
    for group, here in groups.items():
        print_table(group, here, options.quantile)
        sizes = [entry["bytes"] for entry in here]
        means = means_of(here, [(min(sizes), max(sizes)), *options.range])
        print_means(means)
        all_means += [{**dict(zip(GROUP, group)), **mean} for mean in means]
    for absent in options.absent:
        print(f"absent: {absent}")
    return all_means


def write_csv(path, comparison):
    impls, ours = names_in(comparison, "times_us"), names_in(comparison, "ratios")
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file)
        lines.writerow([*GROUP, "bytes", *(f"{impl} us" for impl in impls), "best",
                        *(f"best / {impl}" for impl in ours)])
        for entry in comparison:
            lines.writerow([*(entry[name] for name in GROUP), entry["bytes"],
                            *(entry["times_us"].get(impl, "") for impl in impls), entry["best"],
                            *(entry["ratios"].get(impl, "") for impl in ours)])


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path, metavar="FILE.json")
    parser.add_argument("--range", action="append", default=[], type=range_of, metavar="MIN:MAX")
    parser.add_argument("--quantile", default=0.5, type=fraction_of, metavar="Q")
    parser.add_argument("--absent", action="append", default=[], metavar="NAME", help="say that it was not measured")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--csv", type=pathlib.Path, metavar="FILE")
    return parser.parse_args()


def main():
    options = parse()
    files = []
    for path in options.files:
        try:
            files.append(load(path))
        except BadFile as error:
            sys.exit(f"compare.py: {path}: {error}")
    rows = merge(files, options.quantile)
    comparison = compare(rows)
    if not comparison:
        sys.exit("compare.py: no size was measured with both Rondo and a peer")
    means = report(comparison, options)
    meta = {"machine": files[0][0].get("machine", ""), "processors": files[0][0].get("processors", 0),
            "command": " ".join(sys.argv), "absent": options.absent}
    try:
        if options.json:
            document = {"meta": meta, "rows": rows, "comparison": comparison, "means": means}
            options.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
        if options.csv:
            write_csv(options.csv, comparison)
    except OSError as error:
        sys.exit(f"compare.py: cannot write {error.filename}: {error.strerror}")
    wrong = sum(row["wrong"] for row in rows)
    if wrong:
        sys.exit(f"compare.py: {wrong} elements were wrong")


if __name__ == "__main__":
    main()
