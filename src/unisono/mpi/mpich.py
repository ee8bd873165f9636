"""MPICH 4 and 5."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

FAMILY = "mpich"
NAME = "MPICH"
BANNERS: tuple[re.Pattern[str], ...] = (re.compile(r"HYDRA build details:\s+Version:\s+(\S+)"),)
LAUNCHER: Literal["openmpi", "hydra"] = "hydra"
BINDS = False
HOST_FILES: tuple[str, ...] = ("HYDRA_HOST_FILE",)
CATALOGUE: tuple[str, ...] = ("mpich", "ucx", "placement", "unisono", "boot")
LIBRARY = "12"
VERSION_IN_LUA = r"HYDRA build details:%s+Version:%s+(%S+)"
VERSION_IN_TCL = r"HYDRA build details:\s+Version:\s+(\S+)"
VERSION_IN_SED = r" *Version: *\([^ ]*\).*"


def binding(cpus: Sequence[Sequence[int]]) -> list[str]:
    return ["-bind-to", "user:" + ",".join("+".join(map(str, each)) for each in cpus)]


def hosts(names: Sequence[str], ppn: int) -> list[str]:
    return ["-hosts", ",".join(f"{name}:{ppn}" for name in names)]


def threads_binding(threads: int) -> list[str]:
    return ["-bind-to", f"core:{threads}"]
