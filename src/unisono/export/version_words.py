"""How scripts ask which MPI is on PATH, so that a tuning of another version is refused where it would be used."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from unisono.machine.description import Mpi
from unisono.mpi import family


@dataclass(frozen=True, slots=True)
class Asking:
    """A program to run with --version, and what in its answer is the version: one pattern a language."""

    program: str
    lua: str
    regexp: str
    """Of Tcl."""
    sed: str
    """A basic regular expression up to the version, for `sed -n 's/.../\\1/p'`."""


def asking(mpi: Mpi) -> Asking:
    """The launcher by the name it had when it was measured (mpirun, mpiexec, Debian's mpirun.mpich)."""
    one = family(mpi.family)
    return Asking(Path(mpi.mpirun).name, one.VERSION_IN_LUA, one.VERSION_IN_TCL, one.VERSION_IN_SED)


def measured_with(mpi: Mpi) -> str:
    """ "Open MPI 5.0.11", for messages inside scripts."""
    return f"{mpi.name} {mpi.version}"
