"""The program's calls against the benchmark's: where they take far longer, and which reasons the profile leaves.

A benchmark calls a collective again and again, all ranks at once, with buffers that stay in the caches. A program's
calls of the same size can take a hundred times as long, and what a setting gained in the benchmark then says little.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from unisono.advise.evidence import Evidence, Now
from unisono.advise.mix import COLLECTIVE, Mix, Spot
from unisono.advise.predict import best_source, outside
from unisono.display import seconds

FAR = 3.0
"""So many times the benchmark's time is more than what programs and benchmarks differ by anyway."""
WORTH = 0.02
"""Of the program's time: calls that take less are not worth a sentence."""
FEW = 20
"""So few calls a rank are much of them first ones: connections are set up, fresh memory is touched."""
_LINE = 64
_MISS = 200e-9
"""Seconds for a cache line from a busy memory, one after the other: no memory in use today is slower."""
_PER_PEER = frozenset({"allgather", "allgatherv", "alltoall", "alltoallv"})
"""Their message size counts once for every rank."""


@dataclass(frozen=True, slots=True)
class Against:
    """One hot spot whose calls take far longer than the benchmark's."""

    spot: Spot
    call: float
    """Seconds of one call on average, without waiting where that was measured."""
    benchmark: float
    """Seconds of the benchmark's, as the program runs now, for the same message sizes."""
    likely: tuple[str, ...]
    excluded: tuple[str, ...]
    """Reasons that the profile speaks against, and how."""

    @property
    def sentence(self) -> str:
        without = "" if math.isnan(self.spot.waiting) else " without waiting"
        out = (
            f"{self.spot.name} takes {seconds(self.call)} a call{without}, the benchmark {seconds(self.benchmark)} for"
            " the same: what a setting gains there need not be gained here."
        )
        if self.likely:
            out += f" Possible: {'; '.join(self.likely)}."
        return out + (f" Not the reason: {'; '.join(self.excluded)}." if self.excluded else "")

    def as_dict(self) -> dict[str, Any]:
        fields = asdict(self)
        return {**fields, "spot": self.spot.name, "likely": list(self.likely), "excluded": list(self.excluded)}


def against(mix: Mix, evidences: Sequence[Evidence], now: Now = None) -> list[Against]:
    """The hot spots that take far longer than the benchmark, most time first; collectives that a study measured."""
    found = []
    for spot in mix.spots:
        if spot.kind != COLLECTIVE or spot.case is None or spot.case.ranks < 2 or mix.share(spot.time) < WORTH:
            continue
        source = best_source(spot.case, mix, evidences)
        if source is None:
            continue
        times = _times(spot, source, now)
        if times is not None and times[0] >= FAR * times[1]:
            found.append(Against(spot, *times, *_reasons(spot, *times)))
    return found


def _times(spot: Spot, source: Evidence, now: Now) -> tuple[float, float] | None:
    """Seconds of a call here and in the benchmark, over the uses that it measured; None: nothing is known."""
    assert spot.case is not None
    sizes = source.sizes(spot.case)
    calls, here, there = 0, 0.0, 0.0
    for use in spot.uses:
        usual = source.seconds(spot.case, now, use.size) if use.size >= 0 and not outside(sizes, use.size) else math.nan
        if use.calls > 0 and not math.isnan(usual):
            calls += use.calls
            here += use.time - (0.0 if math.isnan(use.waiting) else use.waiting)
            there += use.calls * usual
    return (here / calls, there / calls) if calls and there > 0 else None


def _reasons(spot: Spot, call: float, benchmark: float) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Those that may be it, and those that the profile speaks against."""
    likely, excluded = [], []
    if math.isnan(spot.waiting):
        # The rank that comes last waits for nobody: what it takes is no late arrival.
        if spot.evenness * call < FAR * benchmark:
            likely.append(f"ranks that arrive late (the rank that spends least takes {seconds(spot.evenness * call)})")
        else:
            likely.append("ranks that arrive late (unisono profile --split-waiting tells)")
    else:
        excluded.append("late arrival (waiting is taken off)")
    alike = len(spot.uses) == 1 and not math.isnan(spot.fastest)
    if alike and spot.fastest < FAR * benchmark:
        likely.append(f"single calls that are disturbed (the fastest takes {seconds(spot.fastest)})")
    elif alike:
        excluded.append(f"single disturbed calls (the fastest takes {seconds(spot.fastest)})")
    else:
        likely.append("single calls that are disturbed (the profile does not tell for these)")
    if spot.calls <= FEW:
        likely.append(
            f"first calls, which set up connections and touch fresh memory (there are {spot.calls:.0f} a rank)"
        )
    most = max(_memory(spot, use.size) for use in spot.uses)
    if benchmark + most >= call / 2:
        likely.append("cold buffers, or memory that all ranks use at once (the benchmark's buffers stay in the caches)")
    else:
        excluded.append(f"cold buffers or memory (at most {seconds(most)} for so many bytes)")
    if any(use.size > 0 for use in spot.uses):
        likely.append("derived datatypes (the profile does not hold them: look at the call)")
    return tuple(likely), tuple(excluded)


def _memory(spot: Spot, size: int) -> float:
    """Seconds that fetching what is sent and received from memory takes at most."""
    assert spot.case is not None
    lines = math.ceil(max(size, 0) / _LINE) * (spot.case.ranks if spot.case.collective in _PER_PEER else 1)
    return 2 * lines * _MISS
