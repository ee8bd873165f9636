"""Ours wherever it can be: for programs that call every collective (programs/every.h)."""

from __future__ import annotations

from tests.collectives.algorithms import NAMES
from unisono.core.vocabulary import DISPATCHED, NONBLOCKING

_WAYS = ("cells", "flags")
"""Algorithms of one node, through shared memory."""


def _way(collective: str) -> str:
    return "posted" if collective in NONBLOCKING else next(w for w in _WAYS if f"{collective}_{w}" in NAMES)


FORCED = {
    "UNISONO_FORCE": ",".join(f"{collective}=unisono/{_way(collective)}" for collective in DISPATCHED),
    "UNISONO_PATIENCE": "0",
}
