"""Open MPI 4.1 and newer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

FAMILY = "openmpi"
NAME = "Open MPI"
BANNERS: tuple[re.Pattern[str], ...] = (
    re.compile(r"\(Open MPI\)\s+v?(\S+)"),
    # By another name than mpirun (Debian's mpirun.openmpi) Open MPI 4 calls itself so.
    re.compile(r"\(OpenRTE\)\s+v?(\S+)"),
)
LAUNCHER: Literal["openmpi", "hydra"] = "openmpi"
BINDS = True
HOST_FILES: tuple[str, ...] = ("PRTE_MCA_prte_default_hostfile", "OMPI_MCA_orte_default_hostfile")
CATALOGUE: tuple[str, ...] = ("openmpi", "ucx", "placement", "unisono", "boot")
LIBRARY = "40"
VERSION_IN_LUA = r"%(Open[ %a]*%)%s+v?(%S+)"
VERSION_IN_TCL = r"\(Open[ A-Za-z]*\)\s+v?(\S+)"
VERSION_IN_SED = r".*(Open[ A-Za-z]*) *v\{0,1\}\([^ ]*\).*"


def binding(cpus: Sequence[Sequence[int]]) -> list[str]:
    """None: launch.mapping has Open MPI's words, which name objects and differ between 4 and 5."""
    return []


def hosts(names: Sequence[str], ppn: int) -> list[str]:
    return ["--host", ",".join(f"{name}:{ppn}" for name in names)]


def threads_binding(threads: int) -> list[str]:
    """None: it goes into --map-by together with the ranks of a node."""
    return []
