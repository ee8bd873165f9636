"""Ours wherever it can be: for programs that call every collective (programs/every.h)."""

from __future__ import annotations

import re
from collections import Counter

from tests.collectives.algorithms import NAMES
from unisono.core.vocabulary import DISPATCHED, WITH_REQUEST

_WAYS = ("cells", "flags")
"""Algorithms of one node, through shared memory."""


def _way(collective: str) -> str:
    return "posted" if collective in WITH_REQUEST else next(w for w in _WAYS if f"{collective}_{w}" in NAMES)


FORCED = {
    "UNISONO_FORCE": ",".join(f"{collective}=unisono/{_way(collective)}" for collective in DISPATCHED),
    "UNISONO_PATIENCE": "0",
}

_WAYS_OF_NODES = ("flat_pairwise", "leader", "nodes", "direct")
"""Algorithms of several nodes, also where these have different numbers of ranks."""

FORCED_ON_NODES = {
    "UNISONO_FORCE": ",".join(
        f"{collective}=unisono/{next(w for w in _WAYS_OF_NODES if f'{collective}_{w}' in NAMES)}"
        for collective in DISPATCHED
        if collective not in WITH_REQUEST
    ),
    "UNISONO_PATIENCE": "0",
}
"""The same where ranks are on several nodes: nonblocking and persistent collectives are then the MPI's."""


def ours(said: str) -> Counter[str]:
    """Calls of each collective that ours served, as the library lists them at the end (UNISONO_VERBOSE): a row for each
    implementation and run of sizes."""
    calls: Counter[str] = Counter()
    for collective, number in re.findall(r"^unisono: +(\w+) +(?:any|[\d.]+) +unisono/\w+ +(\d+)$", said, re.MULTILINE):
        calls[collective] += int(number)
    return calls
