"""env.sh: the plan as environment variables for a POSIX shell."""

from __future__ import annotations

from unisono.core.language import N_
from unisono.core.reading import read_text
from unisono.export import shell
from unisono.export.carried import CARRIED_FILES, by_environment, carried
from unisono.export.content import Content
from unisono.export.environment_check import check_environment
from unisono.export.placement_words import placement_comment
from unisono.export.seen import Item
from unisono.mpi.family import Family

NAME = "shell"
LABEL = N_("a script to be sourced by a POSIX shell, with a way back")
SHELL = "env.sh"
FILES: tuple[str, ...] = (*CARRIED_FILES, SHELL)
BY_TUNE = True
TAKES_LIBRARY = False


def read_by(family: Family) -> bool:
    return True


def expresses(content: Content) -> bool:
    return bool(carried(content).variables)


def write(content: Content) -> dict[str, str]:
    found = carried(content)
    comments = [*content.head, *found.notes, *placement_comment(content)]
    if content.words.env and content.plan.nodes > 1:
        names = " ".join(f"-x {name}" for name in content.words.env)
        comments.append(f"mpirun takes these to other nodes only when told: {names}")
    text = shell.write(found.variables, comments, needs=found.paths(content.directory))
    return {**found.files, SHELL: text}


def check(content: Content, deadline: float) -> tuple[list[Item], list[str]]:
    path = content.directory / SHELL
    return check_environment(content, by_environment(shell.read(read_text(path), str(path)), path), deadline)
