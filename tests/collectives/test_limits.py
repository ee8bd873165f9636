"""Limits of the system that a program reaches amid its run: what it could do without the library it can do with it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.collectives.everything import FORCED
from tests.profile.interception import Ran, Toolchain, compiled, run, toolchain

pytestmark = [pytest.mark.mpi, pytest.mark.beside]
PROGRAMS = Path(__file__).parent / "programs"


@pytest.mark.parametrize(
    "name", ["openmpi5", "mpich", *(pytest.param(name, marks=pytest.mark.nightly) for name in ("openmpi4", "mpich5"))]
)
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


@pytest.fixture
def group() -> Iterator[Path]:
    """A control group of this test's own that may have 400 MiB of memory."""
    for above, limit in (
        ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
        ("/sys/fs/cgroup", "memory.max"),
    ):
        made = Path(above) / f"unisono-test-{os.getpid()}"
        try:
            made.mkdir()
        except OSError:
            continue
        try:
            (made / limit).write_text(str(400 << 20))
        except OSError:
            made.rmdir()
            continue
        try:
            yield made
        finally:
            made.rmdir()
        return
    pytest.skip("no control group with a limit of memory can be made here")


@pytest.mark.parametrize("name", ["openmpi4", pytest.param("mpich", marks=pytest.mark.nightly)])
def test_a_job_whose_memory_is_nearly_full(name: str, group: Path, tmp_path: Path) -> None:
    """The program has filled its control group: the kernel ends a process that shared memory takes beyond it."""
    tools = toolchain(name)
    program = compiled(tools, tmp_path, str(PROGRAMS / "limits.c"))

    def inside(preload: bool) -> Ran:
        return run(_in_group(tools, group, tmp_path), tmp_path, program, "cgroup", "one", "16", str(group), ranks=2,
                   preload=preload, env=FORCED if preload else None, record=False)  # fmt: skip

    if inside(preload=False).out.split() != ["right"]:
        pytest.skip("this MPI does not go on by itself")
    ran = inside(preload=True)
    assert (ran.status, ran.out.split()) == (0, ["right"]), ran.out + ran.error


def _in_group(tools: Toolchain, group: Path, folder: Path) -> Toolchain:
    """Its launcher starts in the group, and so do the ranks."""
    launcher = folder / Path(tools.mpirun).name
    real = shutil.which(tools.mpirun)
    launcher.write_text(f'#!/bin/sh\necho $$ > {group}/cgroup.procs\nexec {real} "$@"\n')
    launcher.chmod(0o755)
    return replace(tools, mpirun=str(launcher))
