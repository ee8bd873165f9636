"""`python -m tests.prebuilt` builds what many tests start, before any of them runs: `make test` begins with it.

Tests build by themselves what is not there yet. But two that run at the same time would both build the same, and each
program would be compiled by itself, although they share most of their sources. Here those of an MPI come out of one
folder. What does not compile is left to the tests, which say more about it.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
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


def for_compiler(mpicc: str, targets: tuple[build.Target, ...]) -> int:
    """Puts every target where `built` looks for it; returns how many were missing. Raises UserError as `built` does."""
    source = build.native_source()
    places = {target: cache() / build._key(mpicc, source, target) / Path(target.file).name for target in targets}
    missing = {target: kept for target, kept in places.items() if not kept.exists()}
    cache().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="build-", dir=cache()) as folder:
        if missing:
            build._build(mpicc, source, Path(folder), *missing)
        for target, kept in missing.items():
            kept.parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / target.file).replace(kept)
    return len(missing)


def main() -> None:
    embedded, system = (str(mpirun.with_name("mpicc")) for mpirun in (EMBEDDED, SYSTEM))
    wanted = {embedded: TARGETS + EMBEDDED_ALONE, system: TARGETS, "mpicc.mpich": TARGETS}
    for mpicc in filter(shutil.which, wanted):
        begun = time.monotonic()
        try:
            said = f"{for_compiler(mpicc, wanted[mpicc])} programs built"
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
