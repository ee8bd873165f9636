"""mpich-env.sh: MPICH's variables, one algorithm for all calls of a collective."""

from __future__ import annotations

from unisono.core.language import N_
from unisono.export import shell
from unisono.export.content import Content
from unisono.export.mpich_files import forced_variables, unforced
from unisono.export.mpich_selection import forced
from unisono.export.placement_words import placement_comment
from unisono.export.script import check_script
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
    return check_script(content, SHELL, deadline)
