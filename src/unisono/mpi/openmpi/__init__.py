"""Open MPI 4.1 and newer."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal

from unisono.core.asking import ask
from unisono.core.errors import UserError
from unisono.core.language import N_, _
from unisono.core.version import at_least
from unisono.core.vocabulary import PERSISTENT, WITH_REQUEST, started
from unisono.mpi.family import Installation, Place
from unisono.mpi.found import Found, beside, find_mpicc
from unisono.mpi.launchers import mpirun
from unisono.mpi.launchers.launcher import Launcher
from unisono.mpi.openmpi import ompi_info, placing
from unisono.mpi.openmpi.ompi_info import McaParameter
from unisono.mpi.places import Placed

FAMILY = "openmpi"
NAME = "Open MPI"
BANNERS: tuple[re.Pattern[str], ...] = (
    re.compile(r"\(Open MPI\)\s+v?(\S+)"),
    # By another name than mpirun (Debian's mpirun.openmpi) Open MPI 4 calls itself so.
    re.compile(r"\(OpenRTE\)\s+v?(\S+)"),
)
LAUNCHER: Launcher = mpirun
AS_ROOT: tuple[str, ...] = ("--allow-run-as-root",)
AS_ROOT_VARIABLES: tuple[str, ...] = ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")
SLOT_A_CORE = True
BINDS_TO: Literal["nothing", "shares", "cores"] = "cores"
MAPPERS: tuple[str, ...] = ("PRTE_MCA_", "OMPI_MCA_rmaps", "OMPI_MCA_hwloc", "OMPI_MCA_orte")
HOST_FILES: tuple[str, ...] = ("PRTE_MCA_prte_default_hostfile", "OMPI_MCA_orte_default_hostfile")
CATALOGUE: tuple[str, ...] = ("openmpi", "ucx", "placement", "unisono", "boot")
MCA = True
SELECTION_FILES = False
PRESET_FILE = False
SHOWN_BY: Literal["verbosity", "tripwires", "start"] = "verbosity"
ALGORITHMS_OF: str | None = "tuned"
NONBLOCKING_OF: str | None = "libnbc"
PERSISTENT_OF: str | None = "libnbc"
PERSISTENT_FROM = "5"
"""Open MPI 4.1 has them by other names (MPIX_Allreduce_init)."""
LIBRARY = "40"
VERSION_IN_LUA = r"%(Open[ %a]*%)%s+v?(%S+)"
VERSION_IN_TCL = r"\(Open[ A-Za-z]*\)\s+v?(\S+)"
VERSION_IN_SED = r".*(Open[ A-Za-z]*) *v\{0,1\}\([^ ]*\).*"

WITHIN_A_LAUNCH = "5.0.6"
"""From this version on, coll_tuned_use_dynamic_rules can be written through MPI_T after MPI_Init."""

_PREFERS = "5.0.4"
"""From this version on, a communicator's component preference survives MPI_Comm_dup_with_info."""

_WATCHED = ("tuned", "han", "sm", "adapt", "basic", "hcoll", "ucc", "xhc", "acoll")
"""Collective components people ask about: doctor's page says of each whether it is present."""


def cpu_list(version: str) -> str | None:
    return "PRTE_MCA_hwloc_default_cpu_list" if at_least(version, "5") else "OMPI_MCA_hwloc_base_cpu_list"


def describe(launcher: str, version: str, mpicc: str | None) -> Found:
    info = beside(launcher, "ompi_info")
    if info is None:
        raise UserError(
            _("{launcher}: Open MPI's ompi_info is not beside it; install it or use another MPI").format(
                launcher=launcher
            )
        )
    listing = _everything(info)
    components = ompi_info.parse_components(listing)
    version = ompi_info.parse_value(listing, "ompi:version:full") or version
    algorithms = ompi_info.parse_algorithms(listing)
    if at_least(version, PERSISTENT_FROM):
        algorithms |= {name: algorithms[started(name)] for name in PERSISTENT if started(name) in algorithms}
    return Found(
        version=version,
        mpirun=launcher,
        mpicc=find_mpicc(launcher, mpicc),
        components=components,
        algorithms=algorithms,
        call_scope=call_scope(version, components),
        settings=ompi_info.set_in_files(listing),
    )


_EVERYTHING = ("--all", "--parsable")


def _everything(program: str) -> str:
    """All that ompi_info knows, asked once: it opens every component, which takes up to a second. What it says depends
    on the environment. Raises UserError where it does not answer."""
    return _answer(program, tuple(sorted(os.environ.items())))


@cache
def _answer(program: str, _environment: tuple[tuple[str, str], ...]) -> str:
    answer = ask([program, *_EVERYTHING], timeout=30.0)
    if not answer.ok:
        said = (answer.error or answer.out).strip().splitlines() or ["nothing"]
        raise UserError(
            _("{program} {arguments}: failed (it said: {said})").format(
                program=program, arguments=" ".join(_EVERYTHING), said=said[0]
            )
        )
    return answer.out


def call_scope(version: str, components: Mapping[str, list[str]]) -> list[str]:
    """What this Open MPI really switches inside one launch.

    coll/tuned reads its forced algorithms again at every new communicator in every version we have tried (4.1.4 to
    5.0.11).
    """
    if "tuned" not in components.get("coll", []):
        return []
    return (["coll"] if prefers(version) else []) + ["algorithm", "segment"]


def prefers(version: str) -> bool:
    return at_least(version, _PREFERS)


def lists_for_ranks(version: str) -> bool:
    """mpirun of 4.1 reads the list, too, and then ends every line that has an -x of its own."""
    return at_least(version, "5")


def sweep_words(mpi: Installation) -> dict[str, str]:
    """Before 5.0.6 coll/tuned decides at MPI_Init whether it will look at forced algorithms (tried on 4.1.4: writing
    the switch later fails with MPI_T_ERR_CVAR_SET_NEVER). Without a forced algorithm the switch changes nothing:
    tuned falls back to its fixed decision."""
    if "algorithm" in mpi.call_scope and not at_least(mpi.version, WITHIN_A_LAUNCH):
        return {"coll_tuned_use_dynamic_rules": "1"}
    return {}


def forcing(collective: str, algorithm: str) -> dict[str, str]:
    """Of nonblocking and persistent collectives; those of coll/tuned are switched while a communicator is copied.

    The variable is read in every call (tried on 4.1.4 and 5.0.11), and takes the algorithm's name from a command line.
    A call that makes a persistent request reads that of the nonblocking form (5.0.11).
    """
    return {f"coll_libnbc_{started(collective)}_algorithm": algorithm} if collective in WITH_REQUEST else {}


def parameters(mpirun: str) -> Mapping[str, McaParameter] | None:
    info = beside(mpirun, "ompi_info")
    return _parameters(info) if info is not None else None


@cache
def _parameters(info: str) -> dict[str, McaParameter]:
    try:
        return ompi_info.parse_parameters(_everything(info))
    except UserError:
        return {}


def library_directory(mpirun: str) -> str | None:
    try:
        return ompi_info.parse_value(_everything(str(Path(mpirun).parent / "ompi_info")), "path:libdir") or None
    except UserError:
        return None


def rows(mpi: Installation) -> list[tuple[str, str]]:
    coll = mpi.components.get("coll", [])
    present = [name for name in _WATCHED if name in coll]
    absent = [name for name in _WATCHED if name not in coll]
    inside = _("component, algorithm and segment size") if "coll" in mpi.call_scope else _("algorithm and segment size")
    if not mpi.call_scope:
        inside = _("nothing (no coll/tuned)")
    return [
        (
            _("Point to point"),
            f"pml: {_names(mpi.components.get('pml', []))}; btl: {_names(mpi.components.get('btl', []))}",
        ),
        (_("Collectives"), _("{present}; not here: {absent}").format(present=_names(present), absent=_names(absent))),
        (_("In one launch"), _("{inside} can be switched without a new mpirun").format(inside=inside)),
    ]


def _names(names: list[str]) -> str:
    return ", ".join(names) or _("none")


def compiler_environment(mpicc: str) -> dict[str, str]:
    return {}


def for_every_launch(version: str, components: Mapping[str, list[str]], place: Place) -> list[tuple[str, str, str]]:
    """Open MPI 5.0: one second of every MPI_Init is libfabric looking for providers (measured on 5.0.11)."""
    wanted = []
    if at_least(version, "5") and "ofi" in components.get("btl", []) and not place.has_fast_network:
        wanted.append(
            ("btl", "^ofi", N_("it adds a second to MPI_Init, and there is no network here that it could use"))
        )
    if place.oversubscribed:
        # Both versions do this by themselves, but not when slots given with --host hide that CPUs are too few.
        wanted.append(
            ("mpi_yield_when_idle", "1", N_("there are more ranks than CPUs, so that waiting ranks give way"))
        )
    return wanted


def placed(placement: Placed, version: str, hosts: Sequence[str]) -> list[str]:
    return placing.words(placement, version, hosts)


def hosts(names: Sequence[str], ppn: int) -> list[str]:
    return ["--host", ",".join(f"{name}:{ppn}" for name in names)]


def threads_binding(threads: int) -> list[str]:
    """None: it goes into --map-by together with the ranks of a node."""
    return []
