"""A program that is not there, said before its launcher starts, which says it in a page and by a number of its own."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from unisono.cmdline.preload import launcher_of, not_found
from unisono.inventory.hosts import job_nodes
from unisono.machine.description import Machine


def refuse_missing(argv: Sequence[str], machine: Machine, env: Mapping[str, str]) -> None:
    """Raises UserError where a program of a user's line is surely not there. Nothing is said where it may be looked for
    on another node, in another directory or by another PATH: a run that works must never be refused."""
    launcher = launcher_of(argv)
    # What stands before the launcher (env, a script) may change the directory and PATH.
    if launcher.words is None or launcher.at > 0 or _elsewhere(machine, env):
        return
    for word in launcher.words.sought(argv):
        if not _is_there(word, launcher.path):
            raise not_found(word)


def _elsewhere(machine: Machine, env: Mapping[str, str]) -> bool:
    """Whether ranks may start on other nodes than this one, for all that a command line does not say."""
    this = os.uname().nodename.partition(".")[0]
    files = machine.traits.HOST_FILES if machine.mpi is not None else ()
    settings = machine.mpi.settings if machine.mpi is not None else {}
    return (
        any(node.host.partition(".")[0] != this for node in job_nodes(env))
        or any(env.get(name) for name in files)
        or any("hostfile" in name or "wdir" in name for name in settings)
    )


def _is_there(word: str, launcher: str) -> bool:
    """Open MPI also takes a bare name from the directory it is started in, and adds its own to the ranks' PATH."""
    if shutil.which(word) is not None:
        return True
    return os.sep not in word and (Path(word).exists() or (Path(launcher).parent / word).exists())
