"""Limits of the system that a program reaches amid its run: what it could do without the library it can do with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.collectives.everything import FORCED
from tests.profile.interception import compiled, run, toolchain

pytestmark = [pytest.mark.mpi, pytest.mark.beside]
PROGRAMS = Path(__file__).parent / "programs"


@pytest.mark.parametrize("name", ["openmpi4", "openmpi5", "mpich", pytest.param("mpich5", marks=pytest.mark.nightly)])
@pytest.mark.parametrize("who", ["one", "all"])
@pytest.mark.parametrize("limit", ["fsize", "as"])
def test_limits_that_come_later(name: str, who: str, limit: str, tmp_path: Path) -> None:
    """No longer files, which the kernel answers with a signal, and little address space, which is the program's."""
    tools = toolchain(name)
    program = compiled(tools, tmp_path, str(PROGRAMS / "limits.c"))
    words = (limit, who, "6" if name != "openmpi5" else "60")  # which takes more by itself
    if run(tools, tmp_path, program, *words, ranks=2, preload=False, record=False).out.split() != ["right"]:
        pytest.skip("this MPI does not go on by itself")
    ran = run(tools, tmp_path, program, *words, ranks=2, env=FORCED, record=False)
    assert (ran.status, ran.out.split()) == (0, ["right"]), ran.out + ran.error
