"""One run of a program to its end, timed, and what became of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from unisono.cmdline.command import Command
from unisono.core.errors import LaunchError
from unisono.launch.failure import explain
from unisono.launch.process import Finished
from unisono.launch.process import run as run_process


@dataclass(frozen=True, slots=True)
class Timed:
    """`status` is "done", or "hung", "crashed", "refused", "no metric" with its `reason`; then there is no `value`."""

    status: str
    reason: str
    value: float | None
    seconds: float
    """Wall time, start of the launcher to its end."""
    stderr: str = ""


def timed(line: Command, deadline: float, value_of: Callable[[Finished], float]) -> Timed:
    """`value_of` reads the figure out of a run that ended well; a LaunchError of it is the run's own."""
    try:
        finished = run_process(line.argv, line.env, deadline)
    except LaunchError as error:
        return Timed(error.status, error.reason, None, deadline if error.status == "hung" else 0.0)
    try:
        if finished.exit_code != 0:
            raise explain(finished.exit_code, finished.stderr)
        return Timed("done", "", value_of(finished), finished.seconds, finished.stderr)
    except LaunchError as error:
        return Timed(error.status, error.reason, None, finished.seconds, finished.stderr)
