"""How far apart the clocks of nodes are, told by the messages between them.

Nothing arrives before it is sent. A message from a to b that was sent at s by a's clock, and whose receive ended at e
by b's, says that b's clock is at most e - s ahead of a's; a message the other way says how far ahead it is at least.
The fastest messages bound it best, and a bound says less the longer ago it was, since clocks drift.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import numpy.typing as npt

DRIFT = 5e-4
"""So much, in parts of the time that passes, clocks move apart at most: a kernel adjusts a clock no faster."""
_HOPS = 3
"""Two nodes are compared by way of so many others at most: each adds its own uncertainty."""

Times = npt.NDArray[np.float64]


@dataclass(frozen=True)
class _Bounds:
    """Bounds from one side, by the time of a clock; all in nanoseconds."""

    at: Times
    """Ascending."""
    least: Times
    """The bounds, each the tightest that holds at its time."""

    def of(self, times: Times) -> Times:
        """The upper bound at these times."""
        place = np.searchsorted(self.at, times)
        before, after = np.clip(place - 1, 0, None), np.clip(place, None, len(self.at) - 1)
        return np.asarray(
            np.minimum(
                self.least[before] + DRIFT * np.abs(times - self.at[before]),
                self.least[after] + DRIFT * np.abs(times - self.at[after]),
            )
        )


def _bounds(at: Times, bound: Times) -> _Bounds:
    """Each bound holds at any other time, too, wider by what clocks may have drifted meanwhile."""
    order = np.argsort(at, kind="stable")
    at, bound = at[order], bound[order]
    start = at - at[0]
    forward = np.minimum.accumulate(bound - DRIFT * start) + DRIFT * start
    backward = np.minimum.accumulate((bound + DRIFT * start)[::-1])[::-1] - DRIFT * start
    return _Bounds(at, np.minimum(forward, backward))


@dataclass(frozen=True)
class Clocks:
    """Of some nodes, by number."""

    _ahead: dict[tuple[int, int], tuple[_Bounds, _Bounds]] = field(default_factory=dict)
    """For (a, b): how far b's clock is ahead of a's at most, and how far at most a's is ahead of b's; by a's clock."""

    def ahead(self, a: int, b: int, times: Times) -> tuple[Times, Times]:
        """How many nanoseconds b's clock is ahead of a's at these times of a's clock: at least, at most. NaN where it
        cannot be told: no messages both ways, also by way of other nodes, or a clock that was set meanwhile."""
        low = high = np.zeros(len(times))
        path = self._path(a, b)
        if path is None:
            return np.full(len(times), np.nan), np.full(len(times), np.nan)
        for one, next in pairwise(path):
            most, least = self._ahead[one, next]
            there = times + (low + high) / 2
            low, high = low - least.of(there), high + most.of(there)
        wrong = low > high
        return np.where(wrong, np.nan, low), np.where(wrong, np.nan, high)

    def _path(self, a: int, b: int) -> list[int] | None:
        """The nodes by which two are compared: as few as there are."""
        paths, seen = [[a]], {a}
        while paths and len(paths[0]) <= _HOPS + 1:
            if (last := paths[0][-1]) == b:
                return paths[0]
            following = [next for one, next in sorted(self._ahead) if one == last and next not in seen]
            seen.update(following)
            paths = [*paths[1:], *([*paths[0], next] for next in following)]
        return None


def compared(
    source: npt.NDArray[np.int64],
    target: npt.NDArray[np.int64],
    sent: npt.NDArray[np.int64],
    ended: npt.NDArray[np.int64],
) -> Clocks:
    """From messages between nodes `source` and `target`, sent at a time of the source's clock, whose receive ended at a
    time of the target's (nanoseconds)."""
    both: dict[tuple[int, int], npt.NDArray[np.intp]] = {}
    if len(source):
        keys, which = np.unique(np.stack([source, target], axis=1), axis=0, return_inverse=True)
        order = np.argsort(which.reshape(-1), kind="stable")
        ends = np.cumsum(np.bincount(which.reshape(-1), minlength=len(keys)))
        for (a, b), end, begin in zip(keys.tolist(), ends, [0, *ends[:-1]], strict=True):
            both[a, b] = order[begin:end]
    ahead = {}
    for (a, b), there in both.items():
        if (b, a) not in both:
            continue
        back = both[b, a]
        most = (ended[there] - sent[there]).astype(np.float64)
        least = (ended[back] - sent[back]).astype(np.float64)  # how far a's clock is ahead of b's at most
        ahead[a, b] = (
            _bounds(sent[there].astype(np.float64), most),
            _bounds(ended[back].astype(np.float64), least),
        )
    return Clocks(ahead)
