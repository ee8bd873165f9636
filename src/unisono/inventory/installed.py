"""Which MPIs are installed here: every launcher on PATH that is another one's."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.inventory.mpi import describe_mpi, embedded_mpirun
from unisono.machine.description import Mpi
from unisono.mpi.found import DEBIANS
from unisono.mpi.launchers import is_of_an_mpi


@dataclass(frozen=True, slots=True)
class Installed:
    mpis: tuple[Mpi, ...]
    """In the order found, one an installation."""
    refused: tuple[str, ...]
    """Why a launcher that was found cannot be used, a sentence each."""


def installed(given: Sequence[str] = ()) -> Installed:
    """The MPIs behind the launchers given, else behind all on PATH and the embedded one, each installation once.

    Raises UserError where a given one cannot be used.
    """
    mpis: dict[tuple[str, str, str], Mpi] = {}
    refused: dict[Path, str] = {}
    for launcher in given or on_path(os.environ.get("PATH", os.defpath)):
        try:
            mpi = describe_mpi(launcher)
        except UserError as error:
            if given:
                raise
            refused.setdefault(Path(launcher).parent, str(error))
            continue
        key = (mpi.family, mpi.version, mpi.root or mpi.mpirun)
        if key not in mpis or (mpis[key].mpicc is None and mpi.mpicc is not None):
            mpis[key] = mpi
    usable = [mpi for mpi in mpis.values() if mpi.mpicc is not None]
    for mpi in mpis.values():
        if mpi.mpicc is None:
            said = _("{mpirun}: no mpicc beside it, which would build the benchmark").format(mpirun=mpi.mpirun)
            if given:
                raise UserError(said)
            refused.setdefault(Path(mpi.mpirun).parent, said)
    served = {Path(mpi.mpirun).parent for mpi in usable}
    return Installed(tuple(usable), tuple(said for place, said in refused.items() if place not in served))


def on_path(path: str) -> list[str]:
    """Launchers in the directories of PATH and the embedded one; names that are links to one file count once."""
    found: dict[Path, str] = {}
    for directory in dict.fromkeys(filter(None, path.split(os.pathsep))):
        try:
            entries = sorted(Path(directory).iterdir(), key=lambda entry: (_rank(entry.name), entry.name))
        except OSError:
            continue
        for entry in entries:
            if is_of_an_mpi(entry.name) and os.access(entry, os.X_OK) and entry.is_file():
                found.setdefault(entry.resolve(), str(entry.absolute()))
    embedded = embedded_mpirun()
    if embedded is not None:
        found.setdefault(Path(embedded).resolve(), embedded)
    return list(found.values())


def _rank(name: str) -> int:
    """The name comes first that finds its own compiler: mpirun, then mpirun.mpich, then mpiexec.hydra."""
    endings = ("", *DEBIANS)
    ending = Path(name).suffix
    return endings.index(ending) if ending in endings else len(endings)
