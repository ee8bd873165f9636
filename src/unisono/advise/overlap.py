"""Nonblocking collectives against the benchmark: what a program hides behind its computing, and what it waits beyond.

The benchmark's time is of the call and its wait, one after the other, with all ranks at once. What a program spends
less went on while it computed. What it spends more is waiting for others, of which no profile tells why: they came
late, or were computing while the operation needed them inside of MPI.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from unisono.advise.evidence import Evidence, Now
from unisono.advise.kinds import NONBLOCKING
from unisono.advise.mix import Mix, Spot
from unisono.advise.predict import best_source, outside
from unisono.advise.replayed import FAR
from unisono.core.display import seconds
from unisono.core.language import _

WORTH = 0.02
"""Of the program's time: calls that take less are not worth a sentence."""
HIDDEN = 0.5
"""A program that spends less than this part of the benchmark's time hides the rest."""


def overlap_sentences(mix: Mix, evidences: Sequence[Evidence], now: Now = None) -> list[str]:
    """One for each nonblocking collective that costs the program far less, or far more, than the benchmark."""
    found = []
    for spot in mix.spots:
        if spot.kind == NONBLOCKING and mix.share(spot.time) >= WORTH:
            found.append(_sentence(spot, *_each(mix, spot, evidences, now)))
    return [sentence for sentence in found if sentence]


def _each(mix: Mix, spot: Spot, evidences: Sequence[Evidence], now: Now) -> tuple[float, float]:
    """Seconds of a call and its wait here and in the benchmark, of sizes that it measured; NaN: nothing is known."""
    source = best_source(spot.case, mix, evidences) if spot.case is not None and spot.case.ranks > 1 else None
    if source is None or spot.case is None:
        return math.nan, math.nan
    sizes, here, there, calls = source.sizes(spot.case), 0.0, 0.0, 0
    for use in spot.uses:
        usual = math.nan if outside(sizes, use.size) else source.seconds(spot.case, now, use.size)
        if use.calls > 0 and not math.isnan(usual):
            here, there, calls = here + use.time, there + use.calls * usual, calls + use.calls
    return (here / calls, there / calls) if calls and there > 0 else (math.nan, math.nan)


def _sentence(spot: Spot, here: float, there: float) -> str:
    times = {"call": spot.name, "here": seconds(here), "there": seconds(there)}
    if here <= HIDDEN * there:
        return _(
            "{call} costs {here} a call with the wait for it, but the benchmark, which computes nothing "
            "meanwhile, takes {there} for the same call: the program already hides the rest behind its computing."
        ).format(**times)
    if here >= FAR * there:
        said = _(
            "{call} costs {here} a call with the wait for it, but the benchmark takes {there} for the same call. "
            "The rest is waiting for other ranks: they come late, other processes use their CPU, or they compute "
            "while the operation needs them inside MPI. A faster operation does not shorten that."
        ).format(**times)
        if spot.case is not None and spot.case.nodes == 1:
            ours = _("Our own collectives need no other rank inside MPI, so they may save more than is predicted.")
            return f"{said} {ours}"
        return said
    return ""
