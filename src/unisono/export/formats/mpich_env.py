"""mpich-env.sh: MPICH's variables, one algorithm for all calls of a collective."""

from __future__ import annotations

from unisono.core.language import N_
from unisono.core.reading import read_text
from unisono.export import shell
from unisono.export.carried import by_environment
from unisono.export.content import Content
from unisono.export.environment_check import check_environment
from unisono.export.mpich_files import forced_variables, unforced
from unisono.export.mpich_selection import forced
from unisono.export.placement_words import placement_comment
from unisono.export.seen import Item
from unisono.mpi.family import Family

NAME = "mpich-env"
LABEL = N_("MPICH's variables: one algorithm for all sizes of a collective, on every communicator")
SHELL = "mpich-env.sh"
FILES: tuple[str, ...] = (SHELL,)
BY_TUNE = False
TAKES_LIBRARY = False


def read_by(family: Family) -> bool:
    return family.SELECTION_FILES


def expresses(content: Content) -> bool:
    return bool(forced(content.plan) or content.words.env)


def write(content: Content) -> dict[str, str]:
    comments = [*content.head, *unforced(content), *placement_comment(content)]
    return {SHELL: shell.write(forced_variables(content), comments, name=SHELL)}


def check(content: Content, deadline: float) -> tuple[list[Item], list[str]]:
    path = content.directory / SHELL
    return check_environment(content, by_environment(shell.read(read_text(path), str(path)), path), deadline)
