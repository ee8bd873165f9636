"""MPICH's selection files, by communicator and message size, and a script with the variables that name them."""

from __future__ import annotations

from unisono.core.language import N_
from unisono.export.content import Content
from unisono.export.mpich_files import FILES as SELECTION
from unisono.export.mpich_files import by_variables, selection
from unisono.export.script import check_script, write_script
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
    return write_script(content, SHELL)


def check(content: Content, deadline: float) -> tuple[list[Item], list[str]]:
    return check_script(content, SHELL, deadline)
