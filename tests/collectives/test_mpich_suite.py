"""MPICH's own tests of its collectives, with ours in their place.

They come with MPICH's source (in test/mpi: `./configure CC=mpicc.mpich`, `make -C util`, `make -C coll PROGRAMS`) and
are not kept here. UNISONO_MPICH_TESTS: the folder test/mpi/coll, its programs built by Debian's MPICH."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.profile.interception import toolchain

pytestmark = pytest.mark.mpi

FOLDER = Path(os.environ.get("UNISONO_MPICH_TESTS", "/nonexistent"))
MOST_RANKS = 5
_OTHERS = re.compile(r"i(?!c)|n_i|nonblocking|neighb|p_|large")
"""Programs about what we leave to the MPI, or that need more memory than a test should."""


def _listed() -> Iterator[tuple[str, int, tuple[str, ...]]]:
    """Program, ranks and arguments of each line of the suite's list."""
    for line in (FOLDER / "testlist").read_text().splitlines():
        match re.sub(r"#.*", "", line).split():
            case [name, ranks, *options] if (FOLDER / name).is_file() and not _OTHERS.match(name):
                if int(ranks) <= MOST_RANKS:
                    yield name, int(ranks), tuple(word[4:] for word in options if word.startswith("arg="))


@pytest.mark.skipif(not (FOLDER / "testlist").exists(), reason="UNISONO_MPICH_TESTS names no test/mpi/coll of MPICH")
def test_every_program_finds_no_error() -> None:
    tools = toolchain("mpich")
    variables = {"LD_PRELOAD": str(tools.library), "UNISONO_COLLECTIVES": "on"}
    failed = []
    programs = list(dict.fromkeys(_listed()))
    for name, ranks, arguments in programs:
        argv = [*tools.launch(ranks, variables), f"./{name}", *arguments]
        try:
            done = subprocess.run(argv, cwd=FOLDER, capture_output=True, text=True, timeout=120, check=False)
        except subprocess.TimeoutExpired:
            failed.append(f"{name} on {ranks}: not ended within two minutes")
            continue
        if "No Errors" not in done.stdout:
            failed.append(f"{name} on {ranks}: {(done.stdout + done.stderr)[-300:]}")
    assert len(programs) >= 50
    assert not failed, "\n".join(failed)
