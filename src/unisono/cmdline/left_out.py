"""Our library left out of launches of the MPI as it is, where a site or a user gives it to all jobs.

Parameter files of Open MPI, scripts of jobs (`unisono export --format library`) and LD_PRELOAD in the environment put
it into every rank. A study would then compare it with itself. What is wanted of it in a launch is added to that launch.
"""

from __future__ import annotations

import os
from collections.abc import MutableMapping

from unisono.core.language import N_
from unisono.core.vocabulary import LIBRARY_NAME
from unisono.machine.description import Machine
from unisono.mpi.launchers import LAUNCHERS
from unisono.mpi.launchers.lines import PRELOAD, without_library

_PREFIX = "UNISONO_"
"""Of variables that the library reads. Those of the environment itself stay: users mean them for launches with it."""


def notes(machine: Machine) -> list[str]:
    """One sentence for each place from which the library would come into ranks on this machine."""
    text = N_(
        "{where} puts our library into every rank; Unisono removes it from launches that measure the MPI without "
        "it, and from launches that add it themselves"
    )
    return [text.format(where=where) for where, _value in _changes(machine).values()]


def leave_out(machine: Machine, environment: MutableMapping[str, str] = os.environ) -> list[str]:
    """Makes the environment, which all launches get, such that only what a launch itself says brings the library.
    Returns `notes`."""
    said = notes(machine)
    # mpirun of Open MPI 4 ends a line with an -x where there is any list, an empty one too.
    may_be_empty = machine.mpi is not None and machine.traits.lists_for_ranks(machine.mpi.version)
    for name, (where, value) in _changes(machine).items():
        if value or may_be_empty or where != name:
            environment[name] = value
        else:
            environment.pop(name, None)
    return said


def _changes(machine: Machine) -> dict[str, tuple[str, str]]:
    """Variables -> (where the library is named, the value without it)."""
    env, files = machine.environment, machine.mpi.settings if machine.mpi is not None else {}
    found: dict[str, tuple[str, str]] = {}
    for launcher in LAUNCHERS:
        found |= launcher.left_out(LIBRARY_NAME, _PREFIX, env, files)
    if PRELOAD in env and (kept := without_library(env[PRELOAD], LIBRARY_NAME)) != env[PRELOAD]:
        found[PRELOAD] = (PRELOAD, kept)
    return found
