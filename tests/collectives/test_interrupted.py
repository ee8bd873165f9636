"""A job that is ended from outside in the middle of collectives: every rank ends, and nothing of ours is left."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.profile.interception import compiled, toolchain

pytestmark = [pytest.mark.mpi, pytest.mark.beside]
PROGRAM = str(Path(__file__).parent / "programs" / "failing.c")
ROOT = {f"{name}_ALLOW_RUN_AS_ROOT{end}": "1" for name in ("OMPI", "PRTE") for end in ("", "_CONFIRM")}
RANKS = 4
LONG = "600"
"""Seconds after which the program would end by itself."""
_PATIENCE = 60
"""Seconds in which ranks begin, and end."""


def _ranks_of(program: Path) -> list[int]:
    """Process numbers of those that run it; the launcher, which names it, is none."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "exe").readlink() == program:
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def _wait_for(program: Path, ranks: int) -> bool:
    end = time.monotonic() + _PATIENCE
    while len(_ranks_of(program)) != ranks and time.monotonic() < end:
        time.sleep(0.05)
    return len(_ranks_of(program)) == ranks


@pytest.mark.parametrize("name", ["openmpi4", "openmpi5", "mpich"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("whom", ["launcher", "group"])
def test_nothing_is_left(name: str, number: signal.Signals, whom: str, tmp_path: Path) -> None:
    tools = toolchain(name)
    program = compiled(tools, tmp_path, PROGRAM).resolve()
    before = set(Path("/dev/shm").glob("unisono*"))
    argv = tools.launch(RANKS, {"LD_PRELOAD": str(tools.library), "UNISONO_COLLECTIVES": "on"})
    argv += [str(program), "kill", "allreduce", "100000", LONG]
    env = {**os.environ, **ROOT}
    with (tmp_path / "said").open("wb") as said:
        # A job that was started where SIGINT is ignored hears of none.
        job = subprocess.Popen(
            argv,
            cwd=tmp_path,
            env=env,
            stdout=said,
            stderr=said,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        try:
            assert _wait_for(program, RANKS), (tmp_path / "said").read_text()
            time.sleep(random.uniform(0, 1))  # whatever they do then
            (os.killpg if whom == "group" else os.kill)(job.pid, number)
            job.wait(_PATIENCE)  # long before the program would end by itself
            if name != "mpich":  # whose launcher ends with 0 in one of ten such cases, also without us
                assert job.returncode != 0
            assert _wait_for(program, 0), "ranks are left"
            assert set(Path("/dev/shm").glob("unisono*")) <= before
        finally:
            for pid in [*_ranks_of(program), *([job.pid] if job.poll() is None else [])]:
                os.kill(pid, signal.SIGKILL)
            job.wait()
