#!/usr/bin/env python3
"""Runs failure_program on 2 to 5 ranks, lets one rank go wrong at a random moment, and checks how the
job ends: in time, with a status that is not 0, with a message that names the rank and the fault, and
without leaving a process or a file in shared memory.

usage: failure_test.py PROGRAM SEED FAULT... -- LAUNCHER...
where LAUNCHER starts a job when "-n N PROGRAM" is added to it."""

import os
import pathlib
import random
import subprocess
import sys
import time

TIMEOUT = 3.0  # RONDO_TIMEOUT of the jobs
CENSUS = 2.0  # how long a rank waits for its peers' answers
GRACE = 1.0  # for the other ranks' reports
SLACK = 12.0  # starting the job and taking it down, on a busy machine

# What the output must say, besides the rank: by fault; of others, that ranks disagree.
SIGNS = {
    "throw": ["rank fails on purpose"],
    "finalize": ["left", "silent"],
    "stop": ["silent"],
    "usage": ["root -1"],
}


def run(program, launcher, fault, ranks, bad, step):
    command = launcher + ["-n", str(ranks), program, fault, str(bad), str(step)]
    mark = f"TEST_JOB={os.getpid()}-{fault}-{step}"
    name, _, value = mark.partition("=")
    environment = dict(os.environ, RONDO_TIMEOUT=str(TIMEOUT), **{name: value})
    begin = time.monotonic()
    job = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
    seconds = time.monotonic() - begin
    return job.returncode, job.stdout, seconds, left_behind(mark)


def left_behind(mark):
    """Processes of the job, and its files in shared memory, a while after its end."""
    end = time.monotonic() + SLACK
    while True:
        left = [f"process {path.parent.name} is still there" for path in
                pathlib.Path("/proc").glob("[0-9]*/environ") if has_mark(path, mark)]
        left += [f"/dev/shm/{name} is still there" for name in os.listdir("/dev/shm")
                 if "rondo" in name]
        if not left or time.monotonic() > end:
            return left
        time.sleep(0.1)


def has_mark(path, mark):
    try:
        return mark.encode() in path.read_bytes()
    except OSError:  # it has just ended
        return False


def complaints(fault, ranks, bad, status, output, seconds):
    if status == 0:
        yield "the job's exit status is 0"
    if seconds > TIMEOUT + CENSUS + GRACE + SLACK:
        yield f"it took {seconds:.1f} s"
    if "every rank got through" in output:
        yield "a rank came to the end"
    if fault in ("kill", "exit"):  # the launcher sees these itself, and ends the job its own way
        return
    signs = SIGNS.get(fault, ["disagree"])
    if not any(sign in output for sign in signs):
        yield f"the output has none of {signs}"
    lowered = output.lower()
    names = [f"rank {bad}", f",{bad}]", f"[rank {bad}]", f"process rank {bad}", f"rank {bad} pid"]
    if not any(name in lowered for name in names) and not (ranks == 2 and "ranks 0-1" in lowered):
        yield f"rank {bad} is not named"


def main():
    split = sys.argv.index("--")
    program, seed, *faults = sys.argv[1:split]
    launcher = sys.argv[split + 1:]
    draw = random.Random(int(seed))
    failed = 0
    for fault in faults:
        ranks = draw.randint(2, 5)
        bad = draw.randrange(ranks)
        step = draw.randint(1, 150)
        status, output, seconds, left = run(program, launcher, fault, ranks, bad, step)
        wrong = list(complaints(fault, ranks, bad, status, output, seconds)) + left
        print(f"{fault}: rank {bad} of {ranks} at step {step}: "
              f"status {status} after {seconds:.1f} s{': ' + '; '.join(wrong) if wrong else ''}")
        if wrong:
            failed += 1
            print(output)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
