#!/usr/bin/env python3
"""Makes one JSON file and a table of what gpu_check.sh found.

usage: gpu_report.py LOGS JSON
LOGS has steps.txt, a line "NAME STATUS SECONDS" for each step, and the JSON files of the benchmarks. Exits with 0
only if every step ended with 0."""

import json
import pathlib
import subprocess
import sys


def gpus():
    query = ["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"]
    try:
        return subprocess.run(query, capture_output=True, text=True, check=True).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError):
        return []


def steps(logs):
    rows = (line.split() for line in (logs / "steps.txt").read_text().splitlines())
    return [{"name": name, "status": int(status), "seconds": int(seconds)} for name, status, seconds in rows]


def read(path):
    """Of a benchmark that did not get to its end: nothing."""
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return {}


def kernels(logs):
    rows = read(logs / "kernels.json").get("benchmarks", [])
    return [{"name": row["name"].removesuffix("/real_time"), "gbs": row["bytes_per_second"] / 1e9} for row in rows
            if "bytes_per_second" in row]


def print_kernels(rows):
    """What each moves beside a copy of as many bytes within the device."""
    copies = {row["name"].split("/")[-1]: row["gbs"] for row in rows if row["name"].startswith("copy/device/")}
    print(f"\n{'kernel, bytes of a source':<40} {'GB/s':>9} {'of copy/device':>15}")
    for row in rows:
        copy = copies.get(row["name"].split("/")[-1])
        print(f"{row['name']:<40} {row['gbs']:>9.1f} {row['gbs'] / copy if copy else float('nan'):>14.0%}")


def print_times(rows):
    print(f"\n{'all-reduce':<28} {'ranks':>5} {'algorithm':>20} {'p50 µs':>10} {'busbw GB/s':>11} {'wrong':>6}")
    for row in rows:
        print(f"{row['impl'] + ', ' + row['dtype'] + ', ' + str(row['bytes']) + ' B':<28} {row['ranks']:>5} "
              f"{row['algorithm']:>20} {row['time_us']['p50']:>10.1f} {row['busbw_gbs']:>11.2f} {row['wrong']:>6}")


def main():
    logs, target = map(pathlib.Path, sys.argv[1:])
    report = {"gpus": gpus(), "steps": steps(logs), "kernels": kernels(logs),
              "times": [row for path in sorted(logs.glob("times.*.json")) for row in read(path).get("rows", [])]}
    target.write_text(json.dumps(report, indent=1) + "\n")
    print("\n".join(report["gpus"]))
    print(f"\n{'step':<28} {'seconds':>8}")
    for step in report["steps"]:
        verdict = "passed" if step["status"] == 0 else f"FAILED with {step['status']}: see {logs / step['name']}.log"
        print(f"{step['name']:<28} {step['seconds']:>8}  {verdict}")
    print_kernels(report["kernels"])
    print_times(report["times"])
    return 0 if report["steps"] and all(step["status"] == 0 for step in report["steps"]) else 1


if __name__ == "__main__":
    sys.exit(main())
