"""Profiles of programs, for tests."""

from __future__ import annotations

import os
from pathlib import Path

from tests.examples.conftest import DEADLINE, Launcher
from unisono.launch.process import Finished, run
from unisono.profile.build import recorder
from unisono.profile.model import Profile
from unisono.profile.preload import launcher_of, with_variables
from unisono.profile.raw import read_raw


def profiled(launcher: Launcher, ranks: int, *words: str | Path, cwd: Path) -> tuple[Profile, Finished]:
    """The program's profile, and what it printed; it runs in `cwd` and must end well."""
    assert launcher.machine.mpi is not None
    argv = launcher.line(ranks, *words)
    prefix = cwd / "profile"
    line = with_variables(
        argv, launcher_of(argv), recorder(launcher.machine.mpi.mpicc), {"UNISONO_PROFILE": str(prefix)}, os.environ
    )
    done = run(["env", "-C", str(cwd), *line.argv], line.env, DEADLINE)
    assert done.exit_code == 0, done.stdout + done.stderr
    return read_raw([prefix.with_suffix(".raw")]), done


def calls(profile: Profile, function: str) -> list[int]:
    """Of each rank."""
    return _per_rank(profile, function, "calls")


def sent(profile: Profile, function: str) -> list[int]:
    """Bytes each rank sent, by Score-P's convention."""
    return _per_rank(profile, function, "sent")


def _per_rank(profile: Profile, function: str, column: str) -> list[int]:
    rows = profile.mpi_rows
    if function not in profile.functions:
        return [0] * profile.ranks
    ours = rows[rows["function"] == profile.functions.index(function)]
    return [int(ours[column][ours["rank"] == rank].sum()) for rank in range(profile.ranks)]
