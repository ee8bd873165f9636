"""The forms in which a tuning can be written, one module each, in one list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.export.content import Content
from unisono.export.formats import (
    han,
    intel,
    library,
    module,
    mpich_env,
    mpich_json,
    mpirun,
    openmpi,
    openmpi_json,
    reframe,
    rules,
    shell,
    slurm,
    ucx,
)
from unisono.export.seen import Item
from unisono.mpi.family import Family


class Format(Protocol):
    """A module that writes a plan for one reader."""

    NAME: str
    """As `--format` calls it."""
    LABEL: str
    """For people: who reads it, in English (translated where it is shown)."""
    FILES: tuple[str, ...]
    """Names of the files it may consist of."""
    BY_TUNE: bool
    """Whether `unisono tune` writes it at its end; else only `unisono export` does."""
    TAKES_LIBRARY: bool
    """Whether it can say a plan that needs our library."""

    def read_by(self, family: Family) -> bool:
        """Whether this MPI, or our library in it, reads it."""

    def expresses(self, content: Content) -> bool:
        """Whether the plan has anything that this format can say. Raises UserError where this MPI's version would not
        take it."""

    def write(self, content: Content) -> Mapping[str, str | bytes]:
        """Name -> what is in each file. Raises UserError for what this MPI's version would not take."""

    def check(self, content: Content, deadline: float) -> tuple[list[Item], list[str]]:
        """What the MPI made of the files in the content's directory, as they are now, and the command lines that
        showed it. `deadline` is seconds a launch. Raises UserError for files that are missing or broken."""


FORMATS: tuple[Format, ...] = (
    openmpi,
    openmpi_json,
    han,
    ucx,
    shell,
    mpich_env,
    mpich_json,
    intel,
    mpirun,
    module,
    slurm,
    reframe,
    rules,
    library,
)


def named(name: str) -> Format:
    """Raises UserError for a name that no format has."""
    for format in FORMATS:
        if name == format.NAME:
            return format
    known = ", ".join(format.NAME for format in FORMATS)
    raise UserError(_("format: {name!r} is unknown; known: {known}").format(name=name, known=known))
