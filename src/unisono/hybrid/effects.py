"""What one choice alone does, all else equal: who packs the halo, over how many links a message goes
(Nakajima 2009)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from unisono.core.interval import Interval
from unisono.core.vocabulary import Setting
from unisono.decide.statistics import compare
from unisono.hybrid.decide import Decision
from unisono.hybrid.run import Result
from unisono.hybrid.variants import Variant


@dataclass(frozen=True, slots=True)
class Effect:
    variant: Variant
    """With the choice made."""
    name: str
    gain: Interval
    """Time without / time with it."""


def of_packing(decision: Decision, results: Sequence[Result], confidence: float) -> list[Effect]:
    """Of packing by one thread: over packing by all threads."""
    measured = [rank.variant for rank in decision.ranks]
    pairs = [
        (single, threads)
        for single in sorted(measured, key=lambda variant: variant.position)
        if single.packing == "single" and (threads := replace(single, packing="threads")) in measured
    ]
    return [Effect(v, decision.called(v), gain) for v, gain in _gains(pairs, results, confidence)]


def of_links(decision: Decision, results: Sequence[Result], confidence: float) -> list[Effect]:
    """Of a number of links a message: over as many as the network library takes by itself."""
    measured = [rank.variant for rank in decision.ranks]
    pairs = [
        (some, plain)
        for some in sorted(measured, key=lambda variant: variant.position)
        if some.links and (plain := replace(some, links=Setting())) in measured
    ]
    return [Effect(v, decision.called(v), gain) for v, gain in _gains(pairs, results, confidence)]


def _gains(
    pairs: Sequence[tuple[Variant, Variant]], results: Sequence[Result], confidence: float
) -> list[tuple[Variant, Interval]]:
    """Of the first of each pair over the second; all intervals hold together with this confidence."""
    found = []
    for chosen, other in pairs:
        cell: dict[Setting, dict[int, float]] = {other.setting: {}, chosen.setting: {}}
        rounds: dict[int, int] = {}
        for number, result in enumerate(results):
            if result.variant in (chosen, other) and result.seconds is not None:
                cell[result.variant.setting][number] = result.seconds
                rounds[number] = result.round
        gains = compare(cell, other.setting, rounds, confidence ** (1 / len(pairs)))
        found.append((chosen, gains[chosen.setting]))
    return found
