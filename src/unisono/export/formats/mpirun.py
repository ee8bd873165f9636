"""mpirun.txt: the plan as words for a command line, placement included."""

from __future__ import annotations

from unisono.core.language import N_
from unisono.core.reading import read_text
from unisono.export import arguments
from unisono.export.carried import CARRIED_FILES, rules_files, rules_name
from unisono.export.content import Content
from unisono.export.handed import Handed, exported, mca_of
from unisono.export.openmpi_check import check_handed
from unisono.export.placement_words import placement_words
from unisono.export.seen import Item
from unisono.mpi.family import Family

NAME = "mpirun"
LABEL = N_("options for mpirun, including those for placement")
ARGUMENTS = "mpirun.txt"
FILES: tuple[str, ...] = (*CARRIED_FILES, ARGUMENTS)
BY_TUNE = True
TAKES_LIBRARY = False


def read_by(family: Family) -> bool:
    return family.MCA


def expresses(content: Content) -> bool:
    return bool(_words(content))


def write(content: Content) -> dict[str, str]:
    use = f"Use:    eval mpirun \"$(grep -v '^#' {ARGUMENTS})\" -n {content.plan.ranks} ./your-program"
    return {**rules_files(content), ARGUMENTS: arguments.write(_words(content), [*content.head, use])}


def check(content: Content, deadline: float) -> tuple[list[Item], list[str]]:
    path = content.directory / ARGUMENTS
    line = arguments.read(read_text(path), str(path))
    return check_handed(content, Handed(mca=mca_of(line), env=exported(line), words=line), deadline)


def _words(content: Content) -> list[str]:
    mca = content.words.mca_with_rules(content.directory / rules_name(content))
    return arguments.words(mca, content.words.env, placement_words(content))
