"""env.sh: the plan as environment variables for a POSIX shell."""

from __future__ import annotations

from unisono.core.language import N_
from unisono.export.carried import CARRIED_FILES, carried
from unisono.export.content import Content
from unisono.export.script import check_script, write_script
from unisono.export.seen import Item
from unisono.mpi.family import Family

NAME = "shell"
LABEL = N_("a script for a POSIX shell to source; it can also undo what it set")
SHELL = "env.sh"
FILES: tuple[str, ...] = (*CARRIED_FILES, SHELL)
BY_TUNE = True
TAKES_LIBRARY = False


def read_by(family: Family) -> bool:
    return True


def expresses(content: Content) -> bool:
    return bool(carried(content).variables)


def write(content: Content) -> dict[str, str]:
    remarks = []
    if content.words.env and content.plan.nodes > 1:
        names = " ".join(f"-x {name}" for name in content.words.env)
        remarks.append(f"mpirun takes these to other nodes only when told: {names}")
    return write_script(content, SHELL, remarks)


def check(content: Content, deadline: float) -> tuple[list[Item], list[str]]:
    return check_script(content, SHELL, deadline)
