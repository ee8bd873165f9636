"""The machine of a command that launches the MPI as it is: without our library, where a site gives it to all jobs."""

from __future__ import annotations

import os
from collections.abc import Callable

from unisono.cmdline.left_out import leave_out
from unisono.commands.console import err
from unisono.core.language import _, translated
from unisono.inventory.describe import describe
from unisono.machine.description import Machine, Node

_before: dict[str, str | None] = {}
"""What the environment said of variables that were changed for an earlier machine; None: nothing."""


def described(mpirun: str | None = None, mpicc: str | None = None, hosts: list[Node] | None = None) -> Machine:
    """As inventory.describe; from here on no launch gets our library but by its own words, which is said."""
    return without_our_library(lambda: describe(mpirun, mpicc, hosts))


def without_our_library(describing: Callable[[], Machine]) -> Machine:
    """The same of another description. A command may describe several MPIs in turn: each is shown the environment that
    the command began with."""
    for name, value in _before.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    _before.clear()
    machine = describing()
    began = dict(os.environ)
    for note in leave_out(machine, os.environ):
        err().print(_("Note: {note}").format(note=translated(note)), markup=False, soft_wrap=True)
    for name in {*began, *os.environ}:
        if began.get(name) != os.environ.get(name):
            _before[name] = began.get(name)
    return machine
