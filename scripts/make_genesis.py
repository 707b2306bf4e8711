#!/usr/bin/env python3
"""Writes the book of Genesis, a verse a line, as the text that train_text ships with.

    scripts/make_genesis.py FOLDER

Needs Debian's packages bible-kjv and bible-kjv-text (made with 4.38). The bytes are the same each time.
"""

import gzip
import pathlib
import subprocess
import sys

numbered = subprocess.run(["bible", "-f", "gen1:1-gen50:26"], check=True, capture_output=True, text=True).stdout
verses = [line.split(" ", 1)[1] + "\n" for line in numbered.splitlines()]
(pathlib.Path(sys.argv[1]) / "genesis.txt.gz").write_bytes(gzip.compress("".join(verses).encode(), 9, mtime=0))
