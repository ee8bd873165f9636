"""What differs from one MPI to another: a module or a folder for each, in one list."""

from __future__ import annotations

import re
from dataclasses import dataclass

from unisono.mpi import intel, mpich, openmpi
from unisono.mpi.family import Family
from unisono.mpi.launchers import hydra, mpirun
from unisono.mpi.launchers.launcher import Launcher


@dataclass(frozen=True, slots=True)
class Declined:
    """An MPI that is known by name alone."""

    family: str
    name: str
    """For people."""
    banner: re.Pattern[str]
    launcher: Launcher


FAMILIES: tuple[Family, ...] = (openmpi, mpich, intel)

ASSUMED: Family = openmpi
"""Where nothing says which MPI is meant."""

_BY_NAME = {one.FAMILY: one for one in FAMILIES}


DECLINED = (
    Declined("spectrum", "IBM Spectrum MPI", re.compile(r"\(IBM Spectrum MPI\)\s+v?(\S+)"), mpirun),
    Declined("mvapich", "MVAPICH", re.compile(r"MVAPICH\S*\s+(?:Version:?\s*)?v?(\d\S*)"), hydra),
)
"""Recognised by what their launchers say, and not driven."""


def recognised(text: str) -> tuple[str, str, str]:
    """(family, name, version) of what `mpirun --version` prints; family "" when it is none we know."""
    banners = [(one.banner, one.family, one.name) for one in DECLINED]
    banners += [(banner, one.FAMILY, one.NAME) for one in FAMILIES for banner in one.BANNERS]
    for pattern, which, name in banners:
        match = pattern.search(text)
        if match:
            return which, name, match[1]
    return "", "", ""


def launcher_of(name: str) -> Launcher | None:
    """Whose options the launcher of an MPI takes, of one that is not driven too; None for one that is not known."""
    declined = {one.family: one.launcher for one in DECLINED}
    return declined.get(name) or (_BY_NAME[name].LAUNCHER if name in _BY_NAME else None)


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
