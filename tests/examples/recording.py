"""Profiles of programs, for tests."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.examples.conftest import DEADLINE, Launcher
from unisono.cmdline.command import Command
from unisono.launch.process import Finished, run
from unisono.profile.record import Options, Recording
from unisono.profile.recorded import Profile


def profiled(
    launcher: Launcher,
    ranks: int,
    *words: str | Path,
    cwd: Path,
    env: Mapping[str, str] | None = None,
) -> tuple[Profile, Finished]:
    """The program's profile, and what it printed; it runs in `cwd` and must end well."""
    line = Command(["env", "-C", str(cwd), *launcher.line(ranks, *words)], dict(env or {}), None, [])
    with Recording(line, Options(), cwd) as recording:
        done = run(recording.command.argv, recording.command.env, DEADLINE)
        assert done.exit_code == 0, done.stdout + done.stderr
        return recording.profile(done.exit_code, done.seconds), done


def calls(profile: Profile, function: str) -> list[int]:
    """Of each rank."""
    return _per_rank(profile, function, "calls")


def sent(profile: Profile, function: str) -> list[int]:
    """Bytes each rank sent, by Score-P's convention."""
    return _per_rank(profile, function, "sent")


def time(profile: Profile) -> list[float]:
    """Seconds of each rank in MPI."""
    rows = profile.mpi_rows
    return [float(rows["time"][rows["rank"] == rank].sum()) for rank in range(profile.ranks)]


def _per_rank(profile: Profile, function: str, column: str) -> list[int]:
    rows = profile.mpi_rows
    if function not in profile.functions:
        return [0] * profile.ranks
    ours = rows[rows["function"] == profile.functions.index(function)]
    return [int(ours[column][ours["rank"] == rank].sum()) for rank in range(profile.ranks)]
