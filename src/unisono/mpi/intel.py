"""Intel MPI 2021: MPICH's options in a launcher that leaves -bind-to unread, and binds as variables say."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from unisono.core.language import _
from unisono.core.vocabulary import CALL_SCOPE
from unisono.mpi.family import Installation, Parameter, Place
from unisono.mpi.found import Found, beside, find_mpicc
from unisono.mpi.launchers import hydra
from unisono.mpi.launchers.launcher import Launcher
from unisono.mpi.places import Placed

FAMILY = "intel"
NAME = "Intel MPI"
BANNERS: tuple[re.Pattern[str], ...] = (re.compile(r"Intel\(R\) MPI Library[^,\n]*, Version\s+(\d+(?:\.\d+)*)"),)
LAUNCHER: Launcher = hydra
AS_ROOT: tuple[str, ...] = ()
AS_ROOT_VARIABLES: tuple[str, ...] = ()
SLOT_A_CORE = False
BINDS_TO: Literal["nothing", "shares", "cores"] = "shares"
MAPPERS: tuple[str, ...] = ()
HOST_FILES: tuple[str, ...] = ("I_MPI_HYDRA_HOST_FILE", "HYDRA_HOST_FILE")
CATALOGUE: tuple[str, ...] = ("intel", "placement", "unisono", "boot")
"""Without UCX: its messages go through libfabric."""
MCA = False
SELECTION_FILES = False
PRESET_FILE = True
SHOWN_BY: Literal["verbosity", "tripwires", "start"] = "start"
ALGORITHMS_OF: str | None = "intel"
NONBLOCKING_OF: str | None = "intel"
PERSISTENT_OF: str | None = None
PERSISTENT_FROM = "2021"
PRESETS = {
    "allgather": 6,
    "allgatherv": 5,
    "allreduce": 32,
    "alltoall": 18,
    "alltoallv": 9,
    "barrier": 11,
    "bcast": 22,
    "gather": 5,
    "reduce": 19,
    "reduce_scatter": 6,
    "scatter": 5,
}
"""Collective -> how many presets there are, numbered from 1: 2021.18.1 says with I_MPI_DEBUG=5 that it leaves out what
is above these. Preset 0 is the logic built into the library, which it does not follow by itself: it loads a table.
Other versions may have fewer, which they then say, or more."""
LIBRARY = "12"
VERSION_IN_LUA = r"Intel%(R%) MPI Library[^,]*, Version%s+([%d.]+)"
VERSION_IN_TCL = r"Intel\(R\) MPI Library[^,]*, Version\s+([0-9.]+)"
VERSION_IN_SED = r"Intel(R) MPI Library[^,]*, Version *\([0-9.]*\).*"


def cpu_list(version: str) -> str | None:
    return None


def describe(launcher: str, version: str, mpicc: str | None) -> Found:
    """Its own presets are read when it starts; our algorithms are switched inside a launch. Its script mpirun finds
    mpiexec.hydra on PATH alone, so that the launcher beside it is taken."""
    direct = beside(launcher, "mpiexec") if Path(launcher).name == "mpirun" else None
    return Found(
        version=version,
        mpirun=direct or launcher,
        mpicc=find_mpicc(launcher, mpicc),
        algorithms={name: {str(number): number for number in range(most + 1)} for name, most in PRESETS.items()},
        call_scope=list(CALL_SCOPE),
    )


def rows(mpi: Installation) -> list[tuple[str, str]]:
    return [
        (_("Point to point"), _("within a node its own shared memory; between nodes: libfabric")),
        (
            _("Collectives"),
            _("{mpi}'s own presets, chosen by itself or by variables; ours beside them").format(mpi=mpi.name),
        ),
        (
            _("In one launch"),
            _("our algorithms can be switched without a new mpirun; its presets are read at its start"),
        ),
    ]


def prefers(version: str) -> bool:
    return False


def lists_for_ranks(version: str) -> bool:
    return False


def sweep_words(mpi: Installation) -> dict[str, str]:
    return {}


def forcing(collective: str, algorithm: str) -> dict[str, str]:
    """A preset, which is read when it starts."""
    return {adjusting(collective): algorithm}


def adjusting(collective: str) -> str:
    """The variable that chooses among its presets."""
    return f"I_MPI_ADJUST_{collective.upper()}"


def parameters(mpirun: str) -> Mapping[str, Parameter] | None:
    return None


def for_every_launch(version: str, components: Mapping[str, list[str]], place: Place) -> list[tuple[str, str, str]]:
    return []


def placed(placement: Placed, version: str, hosts: Sequence[str]) -> list[str]:
    return binding([slot.cpus for slot in placement.slots]) if hydra.may_bind(placement, NAME) else []


def binding(cpus: Sequence[Sequence[int]]) -> list[str]:
    """A mask for each rank. Without 0x in front of each mask 2021.18 says so and binds as it likes."""
    masks = ",".join(f"{sum(1 << cpu for cpu in each):#x}" for each in cpus)
    return ["-genv", "I_MPI_PIN_DOMAIN", f"[{masks}]"]


def hosts(names: Sequence[str], ppn: int) -> list[str]:
    """Within a job its launcher keeps to the scheduler's ranks a node, unless it is told not to."""
    respect = ["-genv", "I_MPI_JOB_RESPECT_PROCESS_PLACEMENT", "off"]
    return [*respect, "-hosts", ",".join(names), "-ppn", str(ppn)]


def threads_binding(threads: int) -> list[str]:
    """With the core as cell, a domain's size counts cores and not their hardware threads."""
    words = {"I_MPI_PIN_CELL": "core", "I_MPI_PIN_DOMAIN": str(threads), "I_MPI_PIN_ORDER": "compact"}
    return [word for name, value in words.items() for word in ("-genv", name, value)]


def library_directory(mpirun: str) -> str | None:
    return None


def compiler_environment(mpicc: str) -> dict[str, str]:
    """What its compiler wrappers need to find their installation, wherever that was moved to (the packages of PyPI);
    nothing for another MPI's mpicc."""
    folder = Path(mpicc).parent
    root = folder.parent
    return {"I_MPI_ROOT": str(root)} if (folder / "mpigcc").is_file() and (root / "include" / "mpi.h").is_file() else {}
