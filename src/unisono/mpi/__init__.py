"""What differs from one MPI to another and needs no look at the machine: a module for each, in one list."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, Protocol

from unisono.mpi import intel, mpich, openmpi


class Family(Protocol):
    """A module that knows one MPI."""

    FAMILY: str
    """As files call it (machine.model.Mpi.family)."""
    NAME: str
    """For people."""
    BANNERS: tuple[re.Pattern[str], ...]
    """What its launcher says when asked for its version, with the version as the one group."""
    LAUNCHER: Literal["openmpi", "hydra"]
    """Whose options its launcher takes."""
    BINDS: bool
    """Whether its launcher binds ranks by itself."""
    HOST_FILES: tuple[str, ...]
    """Variables that name its hosts where neither the command line nor a scheduler does."""
    CATALOGUE: tuple[str, ...]
    """Files of parameters/ that describe what can be varied in it."""
    LIBRARY: str
    """Number of its main library: libmpi.so.40."""
    VERSION_IN_LUA: str
    VERSION_IN_TCL: str
    VERSION_IN_SED: str
    """A pattern for the version in what the launcher says: for Lua, for Tcl, and a basic regular expression of the
    whole line for sed."""

    def binding(self, cpus: Sequence[Sequence[int]]) -> list[str]:
        """Options of the launcher that bind rank i of every node to the CPUs `cpus[i]`, by the system's numbers."""

    def hosts(self, names: Sequence[str], ppn: int) -> list[str]:
        """Options of the launcher that start `ppn` ranks on each of these hosts, in their order."""

    def threads_binding(self, threads: int) -> list[str]:
        """Options of the launcher that give each rank its own `threads` cores, next to one another."""


FAMILIES: tuple[Family, ...] = (openmpi, mpich, intel)


_BY_NAME = {one.FAMILY: one for one in FAMILIES}


def family(name: str) -> Family:
    """Raises KeyError for an MPI that is not driven."""
    return _BY_NAME[name]


def known(name: str) -> bool:
    return name in _BY_NAME
