"""What differs from one MPI to another: a module or a folder for each, in one list."""

from __future__ import annotations

from unisono.mpi import intel, mpich, openmpi
from unisono.mpi.family import Family

FAMILIES: tuple[Family, ...] = (openmpi, mpich, intel)

ASSUMED: Family = openmpi
"""Where nothing says which MPI is meant."""

_BY_NAME = {one.FAMILY: one for one in FAMILIES}


def family(name: str) -> Family:
    """Raises KeyError for an MPI that is not driven."""
    return _BY_NAME[name]


def known(name: str) -> bool:
    return name in _BY_NAME


def traits(name: str | None) -> Family:
    """What is known of an MPI's ways, where there may be none, or one that is not driven."""
    return ASSUMED if name is None else _BY_NAME.get(name, ASSUMED)


def compiler_environment(mpicc: str) -> dict[str, str]:
    """What a compiler wrapper needs to find its installation, whichever MPI's it is."""
    return {name: value for one in FAMILIES for name, value in one.compiler_environment(mpicc).items()}
