"""Profiles of a program for advising: one run with the recorder, waiting told apart from transfer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from unisono.cmdline.command import Command
from unisono.core.errors import LaunchError, UserError
from unisono.core.language import _
from unisono.launch.failure import explain
from unisono.launch.process import run
from unisono.machine.description import Machine
from unisono.profile.record import Options, Recording
from unisono.profile.recorded import Profile


def profile_of(
    line: Command,
    deadline: float,
    machine: Machine,
    folder: Path,
    *,
    split_waiting: bool = True,
    progress: Callable[[str], None] | None = None,
) -> Profile:
    """One run of a command line, within `deadline` seconds; `folder` is where the ranks' files may be meanwhile, and
    `progress` gets a sentence before the recorder is built.

    Raises UserError when the run fails or cannot be recorded.
    """
    options = Options(split_waiting=split_waiting)
    mpicc = machine.mpi.mpicc if machine.mpi is not None else None
    with Recording(line, options, folder, mpicc=mpicc, progress=progress) as recording:
        try:
            done = run(recording.command.argv, recording.command.env, deadline)
        except LaunchError as error:
            raise UserError(_("the program fails with the recorder: {error}").format(error=error)) from error
        if done.exit_code != 0:
            raise UserError(
                _("the program fails with the recorder: {exit_code}").format(
                    exit_code=explain(done.exit_code, done.stderr)
                )
            )
        return recording.profile(done.exit_code, done.seconds, machine)
