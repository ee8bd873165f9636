"""intel.sh: Intel MPI's variables, and its file of presets by ranks and message size."""

from __future__ import annotations

from unisono.core.language import N_
from unisono.core.reading import read_text
from unisono.export import preset_file, shell
from unisono.export.carried import by_environment, carried
from unisono.export.content import Content
from unisono.export.environment_check import check_environment
from unisono.export.placement_words import placement_comment
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
    found = carried(content)
    comments = [*content.head, *found.notes, *placement_comment(content)]
    text = shell.write(found.variables, comments, needs=found.paths(content.directory), name=SHELL)
    return {**found.files, SHELL: text}


def check(content: Content, deadline: float) -> tuple[list[Item], list[str]]:
    path = content.directory / SHELL
    return check_environment(content, by_environment(shell.read(read_text(path), str(path)), path), deadline)
