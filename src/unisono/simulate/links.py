"""Bytes on every link of a torus for who sends what to whom, and the time that takes at least.

Routes are SimGrid's: dimension by dimension in order, the shorter way round; half-way round up, but down from the place
in the middle of the ring. tests/simulate compares them with SimGrid's own. A place is a number, the first dimension
varying fastest, as in native/collectives/torus/torus.h.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.int64]
Loads = NDArray[np.float64]


@dataclass(frozen=True)
class Links:
    """Loads in bytes: load[place, dimension, 0] on the link up from the place, [..., 1] on the link down."""

    extents: tuple[int, ...]
    coordinates: Places = field(init=False)

    def __post_init__(self) -> None:
        grid = np.indices(self.extents[::-1]).reshape(len(self.extents), -1)[::-1]
        object.__setattr__(self, "coordinates", np.ascontiguousarray(grid.T))

    @property
    def places(self) -> int:
        return prod(self.extents)

    def number(self, coordinates: Places) -> Places:
        strides = np.cumprod([1, *self.extents[:-1]])
        result: Places = (coordinates % np.array(self.extents)) @ strides
        return result

    def goes_up(self, here: Places, there: Places, extent: int) -> NDArray[np.bool_]:
        half = extent // 2
        straight = (there > here) & (there <= here + half)
        result: NDArray[np.bool_] = straight | ((here > half) & ((here + half) % extent >= there))
        return result

    def load(self, senders: Places, receivers: Places, sizes: Loads) -> Loads:
        """Of messages senders[i] -> receivers[i] of sizes[i] bytes."""
        total = np.zeros((self.places, len(self.extents), 2))
        here, target = self.coordinates[senders].copy(), self.coordinates[receivers]
        for dimension, extent in enumerate(self.extents):
            up = self.goes_up(here[:, dimension], target[:, dimension], extent)
            step = np.where(up, 1, -1)
            left = np.where(up, target[:, dimension] - here[:, dimension], here[:, dimension] - target[:, dimension])
            left %= extent
            while left.any():
                moving = left > 0
                links = (self.number(here[moving]), np.full(moving.sum(), dimension), np.where(up[moving], 0, 1))
                np.add.at(total, links, sizes[moving])
                here[moving, dimension] = (here[moving, dimension] + step[moving]) % extent
                left -= moving
        return total

    def offset_load(self, offsets: Iterable[tuple[int, float]]) -> Loads:
        """When every place sends `bytes` by each (offset, bytes): of all places together."""
        total = np.zeros((self.places, len(self.extents), 2))
        everybody = np.arange(self.places)
        for offset, size in offsets:
            receivers = self.number(self.coordinates + self.coordinates[offset])
            total += self.load(everybody, receivers, np.full(self.places, float(size)))
        return total


def bisection_seconds(extents: Sequence[int], block: float, bandwidth: float) -> float:
    """What an alltoall of `block` bytes from each place to each takes at least on a torus: what must cross its middle.

    Cut across an even dimension of L places in two halves, N^2/4 blocks go each way over 2 N/L links.
    """
    places = prod(extents)
    return max(places * block * _ring_share(extent) / bandwidth for extent in extents)


def _ring_share(extent: int) -> float:
    """Mean steps in one direction, per place: L/8 for an even ring, (L^2-1)/(8L) for an odd one."""
    return extent / 8 if extent % 2 == 0 else (extent**2 - 1) / (8 * extent)
