"""MPICH 4 and 5."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from unisono.core.asking import ask
from unisono.core.language import _
from unisono.core.vocabulary import CALL_SCOPE
from unisono.mpi.family import Installation, Parameter, Place
from unisono.mpi.found import Found, beside, find_mpicc, linked_library
from unisono.mpi.launchers import hydra
from unisono.mpi.launchers.launcher import Launcher
from unisono.mpi.mpich import variables
from unisono.mpi.places import Placed

FAMILY = "mpich"
NAME = "MPICH"
BANNERS: tuple[re.Pattern[str], ...] = (re.compile(r"HYDRA build details:\s+Version:\s+(\S+)"),)
LAUNCHER: Launcher = hydra
AS_ROOT: tuple[str, ...] = ()
AS_ROOT_VARIABLES: tuple[str, ...] = ()
SLOT_A_CORE = False
BINDS_TO: Literal["nothing", "shares", "cores"] = "nothing"
MAPPERS: tuple[str, ...] = ()
HOST_FILES: tuple[str, ...] = ("HYDRA_HOST_FILE",)
CATALOGUE: tuple[str, ...] = ("mpich", "ucx", "placement", "unisono", "boot")
MCA = False
SELECTION_FILES = True
PRESET_FILE = False
SHOWN_BY: Literal["verbosity", "tripwires", "start"] = "tripwires"
ALGORITHMS_OF: str | None = "mpich"
NONBLOCKING_OF: str | None = "mpich"
PERSISTENT_OF: str | None = None
PERSISTENT_FROM = "4.1"
"""Those of MPICH 4.0 fail when they are started again (tried on 4.0.2)."""
LIBRARY = "12"
VERSION_IN_LUA = r"HYDRA build details:%s+Version:%s+(%S+)"
VERSION_IN_TCL = r"HYDRA build details:\s+Version:\s+(\S+)"
VERSION_IN_SED = r" *Version: *\([^ ]*\).*"


def cpu_list(version: str) -> str | None:
    return None


def describe(launcher: str, version: str, mpicc: str | None) -> Found:
    # Debian's mpiexec.hydra ends like nothing: the mpicc beside it may be Open MPI's, mpicc.mpich never is.
    compiler = (beside(launcher, "mpicc.mpich") if mpicc is None else None) or find_mpicc(launcher, mpicc)
    library = linked_library(compiler, str(Path(launcher).resolve().parent.parent))
    algorithms, values = variables.algorithms(library) if library is not None else ({}, {})
    return Found(
        version=version,
        mpirun=launcher,
        mpicc=compiler,
        components={"netmod": _netmods(launcher)},
        algorithms=algorithms,
        values=values,
        call_scope=list(CALL_SCOPE),
    )


def _netmods(launcher: str) -> list[str]:
    """The network modules that MPICH was built with, as its mpichversion says: "MPICH Device: ch4:ucx ofi"."""
    names = ("mpichversion.mpich", f"mpichversion{Path(launcher).suffix}", "mpichversion")
    program = next((found for name in names if (found := beside(launcher, name)) is not None), None)
    answer = ask([program], timeout=30.0) if program is not None else None
    device = re.search(r"^MPICH Device:\s+ch[34]:(.*)$", answer.out, re.MULTILINE) if answer is not None else None
    return re.findall(r"[a-z0-9]+", device[1]) if device else []


def rows(mpi: Installation) -> list[tuple[str, str]]:
    between = ", ".join(mpi.components.get("netmod", [])) or _("not known")
    return [
        (
            _("Point to point"),
            _("within a node its own shared memory; between nodes: {between}").format(between=between),
        ),
        (_("Collectives"), _("{mpi}'s own, chosen by itself; ours beside them").format(mpi=mpi.name)),
        (
            _("In one launch"),
            _("its algorithms and ours can be switched without a new mpirun")
            if mpi.algorithms
            else _("our algorithms can be switched without a new mpirun"),
        ),
    ]


def prefers(version: str) -> bool:
    return False


def lists_for_ranks(version: str) -> bool:
    return False


def sweep_words(mpi: Installation) -> dict[str, str]:
    return {}


def forcing(collective: str, algorithm: str) -> dict[str, str]:
    return variables.forcing(collective, algorithm)


def parameters(mpirun: str) -> Mapping[str, Parameter] | None:
    return None


def library_directory(mpirun: str) -> str | None:
    return None


def compiler_environment(mpicc: str) -> dict[str, str]:
    return {}


def for_every_launch(version: str, components: Mapping[str, list[str]], place: Place) -> list[tuple[str, str, str]]:
    return []


def placed(placement: Placed, version: str, hosts: Sequence[str]) -> list[str]:
    return binding([slot.cpus for slot in placement.slots]) if hydra.may_bind(placement, NAME) else []


def binding(cpus: Sequence[Sequence[int]]) -> list[str]:
    return ["-bind-to", "user:" + ",".join("+".join(map(str, each)) for each in cpus)]


def hosts(names: Sequence[str], ppn: int) -> list[str]:
    return ["-hosts", ",".join(f"{name}:{ppn}" for name in names)]


def threads_binding(threads: int) -> list[str]:
    return ["-bind-to", f"core:{threads}"]
