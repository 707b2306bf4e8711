#!/usr/bin/env python3
"""Checks that every layer includes only those below it.

    scripts/check_layers.py [ROOT]

    core < device < transport < collectives < engine < train < tools, examples, bench, tests

Besides: <mpi.h> only where MPI is spoken (MPI_HEADER_USERS), Highway only in core, CUDA and NCCL
only in cuda/, quoted includes only of files that exist, and no file that includes itself through
others. Before it looks at ROOT it makes small trees with one fault each and checks that it finds
them, so that a pass means something.
"""

import pathlib
import re
import sys
import tempfile

LAYERS = ["core", "device", "transport", "collectives", "engine", "train", "top"]

# Public headers lie in one folder; these belong to a layer above core.
PUBLIC_LAYERS = {
    "include/rondo/environment.hpp": "transport",
    "include/rondo/communicator.hpp": "engine",
    "include/rondo/rondo.hpp": "engine",
    "include/rondo/shared_buffer.hpp": "engine",
}
MPI_HEADER_USERS = re.compile(r"src/transport/mpi|include/rondo/communicator\.hpp$|tests/(mpi/|bench/\w*mpi|support/\w*mpi)|bench/mpi_")
TOP_FOLDERS = ("tools", "examples", "bench", "tests")
SEARCHED = ("include", "src", "cuda", *TOP_FOLDERS)

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
CUDA_HEADER = re.compile(r"(cuda|cublas|nccl)\w*(\.h|\.hpp|/)")


def layer_of(path):
    """The layer that `path`, relative to the root, belongs to; None outside the layers."""
    parts = path.split("/")
    if parts[0] == "src":
        return parts[1] if parts[1] in LAYERS else None
    if path.startswith("include/rondo/train/"):
        return "train"
    if parts[0] == "include":
        return PUBLIC_LAYERS.get(path, "core")
    if parts[0] == "cuda":
        return "train" if parts[1] == "train" else "device"
    return "top" if parts[0] in TOP_FOLDERS else None


def resolve(root, path, quoted, name):
    """The project's file that an include names, relative to the root; None when it is not ours."""
    candidates = [f"include/{name}"]
    if quoted:
        own_folder = str(pathlib.PurePosixPath(path).parent)
        candidates = [f"{own_folder}/{name}", f"src/{name}", f"tests/{name}", f"tools/{name}", f"bench/{name}", name, *candidates]
    return next((c for c in candidates if (root / c).is_file()), None)


def fault_of_external(path, quoted, name):
    """What is wrong with including a header that is not the project's; None when nothing is."""
    if name == "mpi.h" and not MPI_HEADER_USERS.match(path):
        return "only src/transport/mpi* and rondo/communicator.hpp include <mpi.h>"
    if name.startswith("hwy/"):
        return None if layer_of(path) == "core" or path.startswith("tests/core/") else \
            "only core includes Highway"
    if CUDA_HEADER.match(name) and not path.startswith("cuda/"):
        return "only cuda/ includes CUDA and NCCL headers"
    if quoted or name.startswith("rondo/"):
        return "there is no such file"
    return None


def fault_of_internal(path, included):
    """What is wrong with one of the project's files including another; None when nothing is."""
    if included.startswith("cuda/") and not path.startswith(("cuda/", "tests/device/")):
        return "cuda/ is reached through src/device alone"
    here, there = layer_of(path), layer_of(included)
    if here is None or there is None or LAYERS.index(there) <= LAYERS.index(here):
        return None
    return f"{here} lies below {there}"


def cycles(graph):
    """One fault for each include that closes a circle."""
    done, open_files = set(), []

    def visit(path):
        if path in open_files:
            yield " -> ".join([*open_files[open_files.index(path):], path]) + ": includes in a circle"
        elif path not in done:
            open_files.append(path)
            for included in graph.get(path, []):
                yield from visit(included)
            open_files.pop()
            done.add(path)

    for path in sorted(graph):
        yield from visit(path)


def sources(root):
    for folder in SEARCHED:
        for suffix in ("hpp", "cpp", "cu", "cuh", "h"):
            yield from sorted((root / folder).rglob(f"*.{suffix}"))


def faults_of(root):
    """All that is wrong under `root`, and how many files were looked at."""
    faults, graph = [], {}
    for file in sources(root):
        path = file.relative_to(root).as_posix()
        graph[path] = []
        text = file.read_text(encoding="utf-8")
        for match in INCLUDE.finditer(text):
            quoted, name = match[1] == '"', match[2]
            included = resolve(root, path, quoted, name)
            if included is None:
                fault = fault_of_external(path, quoted, name)
            else:
                graph[path].append(included)
                fault = fault_of_internal(path, included)
            if fault:
                line = text.count("\n", 0, match.start(1)) + 1
                faults.append(f"{path}:{line}: includes {name}: {fault}")
    return faults + list(cycles(graph)), len(graph)


# For each rule a tree that breaks it once, and a word of what must be said.
FAULTY_TREES = [
    ({"src/core/a.hpp": '#include "transport/b.hpp"', "src/transport/b.hpp": ""}, "lies below"),
    ({"include/rondo/types.hpp": "#include <rondo/train/t.hpp>", "include/rondo/train/t.hpp": ""},
     "lies below"),
    ({"src/engine/a.cpp": "# include <mpi.h>"}, "<mpi.h>"),
    ({"src/transport/a.cpp": '#include "hwy/highway.h"'}, "Highway"),
    ({"src/core/a.cpp": "#include <cuda_runtime.h>"}, "cuda/"),
    ({"src/engine/a.cpp": '#include "cuda/b.hpp"', "cuda/b.hpp": ""}, "through src/device"),
    ({"src/core/a.hpp": '#include "core/b.hpp"', "src/core/b.hpp": '#include "a.hpp"'}, "circle"),
    ({"src/train/a.cpp": '#include "core/gone.hpp"'}, "no such file"),
]
SOUND_TREE = {
    "src/transport/mpi_a.cpp": '#include <mpi.h>\n#include "core/b.hpp"\n#include <vector>',
    "src/core/b.hpp": "#include <rondo/types.hpp>",
    "src/core/c.cpp": "#include <hwy/highway.h>",
    "include/rondo/types.hpp": "",
    "tests/train/a.cpp": '#include "train/d.hpp"',
    "src/train/d.hpp": '#include "core/b.hpp"',
}


def faults_in_tree(tree):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for path, text in tree.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        return faults_of(root)[0]


def self_test():
    for tree, word in FAULTY_TREES:
        faults = faults_in_tree(tree)
        assert len(faults) == 1 and word in faults[0], (tree, faults)
    assert faults_in_tree(SOUND_TREE) == [], faults_in_tree(SOUND_TREE)


def main():
    self_test()
    here = pathlib.Path(__file__).resolve().parent.parent
    root = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else here
    faults, files = faults_of(root)
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"layers: {files} files, {len(faults)} faults")
    return 1 if faults or files == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
