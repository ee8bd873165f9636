"""How long an alltoall over a torus takes by what its links carry: a bound, where a simulation is out of reach.

A step is what every process has under way at once; it takes as long as the fullest link needs for it, and the next step
begins after it. Without the steps, what remains is the fullest link of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from unisono.simulate.links import Links, Loads, bisection_seconds
from unisono.simulate.programs import spread_steps


@dataclass(frozen=True, slots=True)
class Carried:
    """Of blocks of one byte from each place to each: bytes on the fullest link, at each step and all together."""

    by_step: tuple[float, ...]
    total: float
    ideal: float
    """What the middle of the torus must carry: the same unit."""

    @property
    def share(self) -> float:
        """Of the bisection bound, links never waiting."""
        return self.ideal / self.total

    @property
    def share_in_step(self) -> float:
        """With everybody at the same step."""
        return self.ideal / sum(self.by_step)


def spread_carried(kind: str, extents: Sequence[int], ahead: int) -> Carried:
    """`ahead` offsets at a time."""
    links = Links(tuple(extents))
    steps = spread_steps(kind, extents)
    loads = [links.offset_load(steps[i : i + ahead]) for i in range(0, len(steps), ahead)]
    return _carried(loads, extents)


def rank_order_carried(extents: Sequence[int]) -> Carried:
    """Every process to rank + 1, rank + 2, ...; ranks in blocks on nodes in order of places. At each step the ranks
    of a node send to one node or the next; counted as if all of them did to one, then to the next."""
    links = Links(tuple(extents))
    everybody = np.arange(links.places)
    ones = np.ones(links.places)
    loads = [links.load(everybody, (everybody + shift) % links.places, ones) for shift in range(1, links.places)]
    return _carried(loads, extents)


def dimensions_carried(extents: Sequence[int], processes: int) -> Carried:
    """Alltoall dimension by dimension (alltoall_dimensions.c): the processes of a place begin with different ones. A
    step is a phase; in each ring blocks go as in the balanced spread of that ring alone."""
    count = len(extents)
    rings = [spread_carried("balanced", (extent,), extent).total * prod(extents) / extent for extent in extents]
    begin = [len(range(first, processes, count)) / processes for first in range(count)]
    steps = tuple(max(begin[(d - phase) % count] * rings[d] for d in range(count)) for phase in range(count))
    return Carried(steps, max(rings), bisection_seconds(extents, 1.0, 1.0))


def _carried(loads: Sequence[Loads], extents: Sequence[int]) -> Carried:
    total: Loads = np.sum(np.stack(loads), axis=0)
    steps = tuple(float(load.max()) for load in loads)
    return Carried(steps, float(total.max()), bisection_seconds(extents, 1.0, 1.0))
