"""Reads what allreduce_bench --json writes; for plot.py and compare.py."""

import json
import re

# What rows that can be compared have in common.
GROUP = ["collective", "dtype", "op", "ranks", "nodes", "in_place"]
ROW = {"impl": str, "collective": str, "dtype": str, "op": str, "ranks": int, "nodes": int, "bytes": int,
       "in_place": bool, "time_us": dict, "busbw_gbs": (int, float)}


class BadFile(Exception):
    """A file that can't be used; its text says why."""


def check_row(row):
    if not isinstance(row, dict):
        raise BadFile("a row is no object")
    for name, type_ in ROW.items():
        if not isinstance(row.get(name), type_):
            raise BadFile(f"a row has no valid \"{name}\"")
    p50 = row["time_us"].get("p50")
    if not isinstance(p50, (int, float)) or p50 <= 0:
        raise BadFile("a row has no valid \"time_us\": {\"p50\"}")


def read(path):
    """What a file of JSON holds."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadFile(error.strerror) from error
    except ValueError as error:
        raise BadFile(f"this is no JSON: {error}") from error


def load(path):
    """The meta object and the rows of a file that allreduce_bench wrote."""
    document = read(path)
    if not isinstance(document, dict) or not isinstance(document.get("meta"), dict) or \
            not isinstance(document.get("rows"), list):
        raise BadFile("allreduce_bench --json writes {\"meta\": {…}, \"rows\": […]}, and this is something else")
    for row in document["rows"]:
        check_row(row)
    return document["meta"], document["rows"]


def mpi_name(text):
    """Short: "Open MPI 4.1.4" for "Open MPI v4.1.4, package: …"."""
    match = re.match(r"(Open MPI|MPICH|Intel\S* MPI|MVAPICH2?)\D*([\d.]+)", text)
    return f"{match[1]} {match[2]}" if match else text.split(",")[0][:24]


def size_text(size):
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024 or unit == "GiB":
            return f"{size:g} {unit}"
        size /= 1024
