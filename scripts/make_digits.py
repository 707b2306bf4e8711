#!/usr/bin/env python3
"""Writes scikit-learn's handwritten digits as the two IDX files that train_digits ships with.

    scripts/make_digits.py FOLDER

Needs scikit-learn (made with 1.9). The bytes are the same each time.
"""

import gzip
import pathlib
import struct
import sys

import numpy
from sklearn.datasets import load_digits


def write(path, array):
    header = struct.pack(">BBBB", 0, 0, 8, array.ndim) + struct.pack(f">{array.ndim}I", *array.shape)
    path.write_bytes(gzip.compress(header + array.astype(numpy.uint8).tobytes(), 9, mtime=0))


digits = load_digits()
folder = pathlib.Path(sys.argv[1])
write(folder / "digits-images.idx3-ubyte.gz", digits.images)
write(folder / "digits-labels.idx1-ubyte.gz", digits.target)
