#!/usr/bin/env python3
"""Lets spin search every state of a model.

usage: check_model.py SPIN COMPILER MODEL [NAME[=VALUE]...]

Exits with 0 if the search was complete and found nothing; if a NAME begins with FAULT, which breaks the
model, if an assertion was violated."""

import subprocess
import sys
import tempfile
from pathlib import Path


def run(command, folder):
    done = subprocess.run(command, cwd=folder, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}:\n{done.stdout}")
    return done.stdout


def main():
    spin, compiler, model, *names = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        run([spin, *(f"-D{name}" for name in names), "-a", str(Path(model).resolve())], folder)
        run([compiler, "-x", "c", "-O2", "-w", "-DSAFETY", "-DCOLLAPSE", "-o", "search", "pan.c"], folder)
        output = run(["./search", "-m1000000"], folder)
    print(output)
    is_broken = any(name.startswith("FAULT") for name in names)
    if is_broken:
        return 0 if "assertion violated" in output else 1
    is_complete = "Search not completed" not in output and "max search depth too small" not in output
    return 0 if is_complete and "errors: 0" in output else 1


if __name__ == "__main__":
    sys.exit(main())
