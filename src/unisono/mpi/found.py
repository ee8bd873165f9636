"""Programs that stand beside a launcher, and what an installation is found to be."""

from __future__ import annotations

import os
import shlex
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from unisono.core.asking import ask
from unisono.core.errors import UserError
from unisono.core.language import _

DEBIANS = (".openmpi", ".mpich")
"""How Debian's names of one MPI among several end, all its programs' alike: mpirun.mpich, mpicc.mpich."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a family says of one installation (machine.description.Mpi has the meanings)."""

    version: str
    mpirun: str
    mpicc: str | None
    components: dict[str, list[str]] = field(default_factory=dict)
    algorithms: dict[str, dict[str, int]] = field(default_factory=dict)
    values: dict[str, dict[str, int]] = field(default_factory=dict)
    call_scope: list[str] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=dict)


def program(given: str) -> str | None:
    """Its absolute path; None where it cannot be run. A Path would lose the `./` that keeps it from being looked for on
    PATH."""
    found = shutil.which(os.path.expanduser(given))  # noqa: PTH111
    return None if found is None else str(Path(found).absolute())


def beside(mpirun: str, name: str) -> str | None:
    """A program in the directory of mpirun, or of what mpirun is a link to (alternatives, modules)."""
    for directory in dict.fromkeys((Path(mpirun).parent, Path(mpirun).resolve().parent)):
        path = directory / name
        if os.access(path, os.X_OK) and path.is_file():
            return str(path)
    return None


def find_mpicc(mpirun: str, mpicc: str | None) -> str | None:
    """The compiler wrapper: the given one, else the one beside mpirun; never one of another MPI from PATH."""
    if mpicc is not None:
        found = program(mpicc)
        if found is None:
            raise UserError(_("--mpicc: {mpicc} is not a program that can be run").format(mpicc=shlex.quote(mpicc)))
        return found
    ending = Path(mpirun).suffix
    return beside(mpirun, f"mpicc{ending}") if ending in DEBIANS else beside(mpirun, "mpicc")


def linked_library(mpicc: str | None, root: str | None) -> Path | None:
    """The MPI's own library that its compiler links programs with."""
    shown = ask([mpicc, "-show"], timeout=60.0).out if mpicc else ""
    try:
        words = shlex.split(shown)
    except ValueError:
        words = []
    folders = [Path(word[2:]) for word in words if word.startswith("-L")]
    folders += [Path(root) / "lib"] if root else []
    names = [f"lib{word[2:]}.so" for word in words if word.startswith("-lmpi")] or ["libmpi.so", "libmpich.so"]
    paths = [path for folder in folders for name in names for path in sorted(folder.glob(f"{name}*"))]
    return next((path for path in paths if _is_library(path)), None)


def _is_library(path: Path) -> bool:
    """Not a linker's script, which may have the library's name."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"
