"""The rows of our own algorithms, as native/collectives/algorithms.def has them."""

from __future__ import annotations

import re
from functools import cache

from unisono.library.native import native_source

_ROW = re.compile(r"^(ALGORITHM|MESSAGES)\((\w+)\)$", re.MULTILINE)


@cache
def rows() -> dict[str, bool]:
    """Name with its collective ("bcast_pull") -> whether ranks of one node share memory in it; False: they send one
    another messages. Raises UserError where the native sources are missing."""
    table = (native_source() / "collectives" / "algorithms.def").read_text(encoding="utf-8")
    return {name: kind == "ALGORITHM" for kind, name in _ROW.findall(table)}


def shares_memory(collective: str, name: str) -> bool:
    """Whether an algorithm keeps to shared memory on one node; of one that is no longer there, as nearly all do."""
    return rows().get(f"{collective}_{name}", True)
