"""The communication matrix: point-to-point pairs, in blocks of ranks where there are many."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from unisono.profile.recorded import Profile
from unisono.report.explorer.blob import Column, sums, whole

SIDE_MOST = 256
"""Rows and columns that are drawn at most."""


@dataclass(frozen=True)
class PairTable:
    side: int
    """Rows and columns."""
    block: int
    """Ranks a row."""
    columns: Mapping[str, Column]
    """source, target (blocks), calls, bytes: only pairs that exchanged something."""


def pair_table(profile: Profile, side_most: int = SIDE_MOST) -> PairTable:
    block = 1
    while -(-profile.ranks // block) > side_most:
        block *= 2
    side = -(-profile.ranks // block)
    pairs = profile.pairs
    keys = (pairs["source"].astype(np.int64) // block) * max(side, 1) + pairs["target"] // block
    found, place = np.unique(keys, return_inverse=True)
    place = np.asarray(place, np.int64).reshape(-1)

    def total(name: str) -> Column:
        return whole(sums(place, np.maximum(pairs[name], 0).astype(np.float64), len(found)))

    columns = {
        "source": whole(found // max(side, 1)),
        "target": whole(found % max(side, 1)),
        "calls": total("calls"),
        "bytes": total("bytes"),
    }
    return PairTable(side, block, columns)
