"""MPICH's selection files, by communicator and message size, and a script with the variables that name them."""

from __future__ import annotations

from unisono.core.language import N_
from unisono.core.reading import read_text
from unisono.export import shell
from unisono.export.carried import by_environment, carried
from unisono.export.content import Content
from unisono.export.environment_check import check_environment
from unisono.export.mpich_files import FILES as SELECTION
from unisono.export.mpich_files import by_variables, selection
from unisono.export.placement_words import placement_comment
from unisono.export.seen import Item
from unisono.mpi.family import Family

NAME = "mpich-json"
LABEL = N_("MPICH's selection files: algorithms by communicator and message size")
SHELL = "mpich-json.sh"
FILES: tuple[str, ...] = (*SELECTION, SHELL)
BY_TUNE = False
TAKES_LIBRARY = False


def read_by(family: Family) -> bool:
    return family.SELECTION_FILES


def expresses(content: Content) -> bool:
    return bool(selection(content).algorithms or by_variables(content))


def write(content: Content) -> dict[str, str]:
    found = carried(content)
    comments = [*content.head, *found.notes, *placement_comment(content)]
    text = shell.write(found.variables, comments, needs=found.paths(content.directory), name=SHELL)
    return {**found.files, SHELL: text}


def check(content: Content, deadline: float) -> tuple[list[Item], list[str]]:
    path = content.directory / SHELL
    return check_environment(content, by_environment(shell.read(read_text(path), str(path)), path), deadline)
