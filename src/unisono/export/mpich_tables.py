"""MPICH's own selection tables, as they stand inside its library.

MPICH compiles the JSON of its defaults into the library as text. A file that replaces it must be complete for that very
version, so ours is made from the installation's own: what was tuned is grafted onto what this MPICH does by itself.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.machine.description import Mpi
from unisono.mpi.found import linked_library

Tree = dict[str, Any]
"""Conditions, tried in order -> what holds below them; a leaf is a name -> its parameters."""

_TABLE = re.compile(rb'\{"collective=[^\0]*\}(?=\0)')


@dataclass(frozen=True, slots=True)
class Tables:
    """Of one MPICH."""

    algorithms: Tree
    """What MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE replaces; complete."""
    compositions: Tree
    """What MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE replaces; empty: this MPICH has no ch4 device."""
    words: frozenset[bytes]
    """Names of algorithms, compositions and parameters that its reader knows."""
    knows_ppn: bool
    """Whether a chain of conditions on the ranks a node can be ended."""

    def has(self, collective: str, algorithm: str) -> bool:
        return any(name.encode() in self.words for name in _names(collective, algorithm))

    def name_of(self, collective: str, algorithm: str) -> str:
        """As a leaf of this MPICH calls it: MPIR_Allreduce_intra_ring, MPIR_Allreduce_allcomm_nb."""
        names = _names(collective, algorithm)
        return next((name for name in names if name.encode() in self.words), names[0])

    def algorithms_of(self, collective: str) -> list[str]:
        """By the names of MPIR_CVAR_<COLLECTIVE>_INTRA_ALGORITHM."""
        begins = (f"MPIR_{collective.capitalize()}_intra_", f"MPIR_{collective.capitalize()}_allcomm_")
        names = (word.decode() for word in self.words)
        return sorted(name.removeprefix(begin) for name in names for begin in begins if name.startswith(begin))

    def knows(self, parameter: str) -> bool:
        # Compilers compare so short a word as `k=` without keeping it.
        return parameter == "k" or f"{parameter}=".encode() in self.words


def _names(collective: str, algorithm: str) -> tuple[str, str]:
    return (
        f"MPIR_{collective.capitalize()}_intra_{algorithm}",
        f"MPIR_{collective.capitalize()}_allcomm_{algorithm}",
    )


def tables_of(mpi: Mpi) -> Tables:
    """Raises UserError where the library is not found, or holds no such tables (before MPICH 4; in a newer scheme)."""
    path = linked_library(mpi.mpicc, mpi.root)
    found = _tables(path, path.stat().st_mtime_ns) if path else None
    if found is None:
        raise UserError(
            _("MPICH {version}: no selection tables are found in {library}; use --format mpich-env").format(
                version=mpi.version, library=path or _("its library, which is not where mpicc -show says")
            )
        )
    return found


@cache
def _tables(path: Path, changed: int) -> Tables | None:
    """`changed` is when the library was, so that a new one is read again."""
    data = path.read_bytes()
    algorithms: Tree = {}
    compositions: Tree = {}
    for match in _TABLE.finditer(data):
        text = match[0].decode("ascii", "replace")
        try:
            tree = json.loads(text)
        except ValueError:
            continue
        if '"composition=' in text:
            compositions = tree
        elif "release_gather" not in text:
            algorithms = tree
    if "collective=iallreduce" not in algorithms:
        return None
    words = set(re.findall(rb"(?:algorithm|composition)=(MPI(?:R|DI)_\w+)(?=\0)", data))
    words |= set(re.findall(rb"(?<=\0)[a-z_]+=(?=\0)", data))
    return Tables(algorithms, compositions, frozenset(words), b"\0comm_avg_ppn<\0" in data)
