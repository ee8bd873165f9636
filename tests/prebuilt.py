"""`python -m tests.prebuilt` builds what many tests start, before any of them runs: `make test` begins with it.

Tests build by themselves what is not there yet. But two that run at the same time would both build the same, and each
program would be compiled by itself, although they share most of their sources. Here those of an MPI come out of one
folder, and what does not look at mpi.h is compiled once for all of them. What does not compile is left to the tests,
which say more about it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.collectives.test_allocations import allocations
from tests.collectives.test_nodes import TRY
from tests.collectives.test_places import SENT
from tests.conftest import EMBEDDED, SYSTEM
from unisono.core.cache import cache
from unisono.core.errors import UserError
from unisono.hybrid.solver import SOLVER
from unisono.library import native as build
from unisono.library.native import BENCH
from unisono.library.recorder import RECORDER
from unisono.simulate.programs import simulator, skeleton, unavailable

TARGETS: tuple[build.Target, ...] = (BENCH, RECORDER, SOLVER, TRY)
EMBEDDED_ALONE: tuple[build.Target, ...] = (SENT, allocations.PROGRAM)
"""Tested under one MPI: the embedded one."""


LAUNCHER = """#!/bin/sh
# The compiler, unless the object is there already.
for word; do
  case $previous in -o) object=$word ;; -MF) made_of=$word ;; esac
  previous=$word
done
[ -f "$UNISONO_OBJECTS/$object" ] || exec "$@"
cp "$UNISONO_OBJECTS/$object" "$object" && echo "$object:" >"$made_of"
"""


def compiler_of(mpicc: str) -> str:
    """The program behind what it calls, which has several names (cc, gcc)."""
    words = build._said([mpicc, "-show"]).split()
    return os.path.realpath(shutil.which(words[0]) or words[0]) if words else ""


def keep_objects(build_folder: Path, objects: Path) -> None:
    """Of what was built, the objects that are the same under every MPI: made of no mpi.h, and of nothing generated from
    it."""
    argv = [build.tool("ninja"), "-C", str(build_folder), "-t", "deps"]
    said = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=True).stdout
    for block in filter(str.strip, said.split("\n\n")):
        name, *files = (line.strip() for line in block.strip().splitlines())
        if not any(Path(file).name == "mpi.h" or "generated" in Path(file).parts for file in files):
            kept = objects / name.partition(":")[0]
            kept.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(build_folder / name.partition(":")[0], kept)


@contextmanager
def shared_objects() -> Iterator[Path]:
    """A folder of objects that CMake's builds take instead of compiling them."""
    with tempfile.TemporaryDirectory(prefix="objects-") as folder:
        launcher, objects = Path(folder) / "launcher", Path(folder) / "objects"
        launcher.write_text(LAUNCHER)
        launcher.chmod(0o755)
        os.environ |= {"CMAKE_C_COMPILER_LAUNCHER": str(launcher), "UNISONO_OBJECTS": str(objects)}
        yield objects
    del os.environ["CMAKE_C_COMPILER_LAUNCHER"], os.environ["UNISONO_OBJECTS"]


def for_compiler(mpicc: str, targets: tuple[build.Target, ...], objects: Path) -> int:
    """Puts every target where `built` looks for it; returns how many were missing. Raises UserError as `built` does."""
    source = build.native_source()
    places = {target: cache() / build._key(mpicc, source, target) / Path(target.file).name for target in targets}
    missing = {target: kept for target, kept in places.items() if not kept.exists()}
    cache().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="build-", dir=cache()) as folder:
        if missing:
            build._build(mpicc, source, Path(folder), *missing)
            keep_objects(Path(folder), objects)
        for target, kept in missing.items():
            kept.parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / target.file).replace(kept)
    return len(missing)


def main() -> None:
    embedded, system = (str(mpirun.with_name("mpicc")) for mpirun in (EMBEDDED, SYSTEM))
    wanted = {embedded: TARGETS + EMBEDDED_ALONE, system: TARGETS, "mpicc.mpich": TARGETS}
    compilers: dict[str, list[str]] = defaultdict(list)
    for mpicc in filter(shutil.which, wanted):
        compilers[compiler_of(mpicc)].append(mpicc)
    for several in compilers.values():
        with shared_objects() as objects:
            for mpicc in several:
                begun = time.monotonic()
                try:
                    said = f"{for_compiler(mpicc, wanted[mpicc], objects)} programs built"
                except UserError as error:
                    said = str(error)
                sys.stdout.write(f"{mpicc}: {said} ({time.monotonic() - begun:.0f} s)\n")
    if not unavailable():
        try:
            sys.stdout.write(f"smpicc: {simulator().name} and {skeleton().name} are built\n")
        except UserError as error:
            sys.stdout.write(f"{error}\n")


if __name__ == "__main__":
    main()
