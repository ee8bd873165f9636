"""intel.sh: Intel MPI's variables, and its file of presets by ranks and message size."""

from __future__ import annotations

from unisono.core.language import N_
from unisono.export import preset_file
from unisono.export.carried import carried
from unisono.export.content import Content
from unisono.export.script import check_script, write_script
from unisono.export.seen import Item
from unisono.mpi.family import Family

NAME = "intel"
LABEL = N_("Intel MPI's file of presets by number of ranks and message size, and a script with its variables")
SHELL = "intel.sh"
FILES: tuple[str, ...] = (preset_file.NAME, SHELL)
BY_TUNE = False
TAKES_LIBRARY = False


def read_by(family: Family) -> bool:
    return family.PRESET_FILE


def expresses(content: Content) -> bool:
    return bool(carried(content).variables)


def write(content: Content) -> dict[str, str]:
    return write_script(content, SHELL)


def check(content: Content, deadline: float) -> tuple[list[Item], list[str]]:
    return check_script(content, SHELL, deadline)
