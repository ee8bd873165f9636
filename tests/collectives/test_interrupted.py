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
from unisono.launch.failure import STUMBLES, stumbled

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


def _wait_for(program: Path, ranks: int, job: subprocess.Popen[bytes] | None = None) -> bool:
    """Until there are so many; no longer than there is the launcher that starts them, where it is given."""
    end = time.monotonic() + _PATIENCE
    while len(_ranks_of(program)) != ranks and time.monotonic() < end and (job is None or job.poll() is None):
        time.sleep(0.05)
    return len(_ranks_of(program)) == ranks


def _started(argv: list[str], program: Path, said: Path) -> subprocess.Popen[bytes]:
    """The launcher, once all ranks are there; asked again, as Unisono does, where it failed by chance before."""
    for _ in range(STUMBLES):
        with said.open("wb") as out:
            # A job that was started where SIGINT is ignored hears of none.
            job = subprocess.Popen(
                argv,
                cwd=said.parent,
                env={**os.environ, **ROOT},
                stdout=out,
                stderr=out,
                start_new_session=True,
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
            )
        if _wait_for(program, RANKS, job):
            return job
        _end(job, program)
        if not stumbled(said.read_text()):
            break
    pytest.fail(said.read_text())


def _end(job: subprocess.Popen[bytes], program: Path) -> None:
    for pid in [*_ranks_of(program), *([job.pid] if job.poll() is None else [])]:
        os.kill(pid, signal.SIGKILL)
    job.wait()


@pytest.mark.parametrize("name", ["openmpi4", "openmpi5", "mpich"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("whom", ["launcher", "group"])
def test_nothing_is_left(name: str, number: signal.Signals, whom: str, tmp_path: Path) -> None:
    tools = toolchain(name)
    program = compiled(tools, tmp_path, PROGRAM).resolve()
    before = set(Path("/dev/shm").glob("unisono*"))
    argv = tools.launch(RANKS, {"LD_PRELOAD": str(tools.library), "UNISONO_COLLECTIVES": "on"})
    argv += [str(program), "kill", "allreduce", "100000", LONG]
    job = _started(argv, program, tmp_path / "said")
    try:
        time.sleep(random.uniform(0, 1))  # whatever they do then
        (os.killpg if whom == "group" else os.kill)(job.pid, number)
        job.wait(_PATIENCE)  # long before the program would end by itself
        if name != "mpich":  # whose launcher ends with 0 in one of ten such cases, also without us
            assert job.returncode != 0
        assert _wait_for(program, 0), "ranks are left"
        assert set(Path("/dev/shm").glob("unisono*")) <= before
    finally:
        _end(job, program)
