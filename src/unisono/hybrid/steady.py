"""Which rounds can be compared: those during which the machine's memory bandwidth was the same.

Layouts of a program that lives on memory bandwidth say nothing about themselves when one of them had more of it. Each
launch of the solver measures what there is beside its own iterations. A round is steady when its launches had the same,
and rounds are comparable when they had the same as one another; the others are discarded, by their bandwidth alone and
never by their times.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unisono.hybrid.run import Result
from unisono.hybrid.variants import Variant

DRIFT = 1.25
"""Largest over smallest bandwidth within which memory-bound launches are comparable."""
ENOUGH = 3
"""Comparable rounds that a conclusion needs."""


@dataclass(frozen=True, slots=True)
class Rounds:
    """`steady`: rounds to conclude from; `restless`: the others. `drift`: largest over smallest bandwidth of the steady
    rounds, `unrest` of all launches; None: not measured, or a single one."""

    steady: tuple[int, ...]
    restless: tuple[int, ...]
    drift: float | None
    unrest: float | None

    @property
    def enough(self) -> bool:
        return len(self.steady) >= ENOUGH


def bandwidth_of(answer: Mapping[str, Any]) -> float | None:
    """What a launch of the solver had, GB/s: the mean of the triads beside its iterations, where it measured them (each
    for the time of its block), else the better of those before and after. None: a user's program."""
    if not answer:
        return None
    blocks = [block for block in answer.get("beside", ()) if block["iterations"] > 0 and sum(block["triads"]) > 0]
    if blocks:
        needed = sum(block["iterations"] * 2 / sum(block["triads"]) for block in blocks)
        return float(sum(block["iterations"] for block in blocks) / needed)
    return max(float(answer["triad_before"]), float(answer["triad_after"])) or None


def launches(results: Sequence[Result]) -> dict[int, list[tuple[Variant, float]]]:
    """By round: of each launch that measured it, its bandwidth over what its variant usually has, as a logarithm."""
    measured: dict[Variant, list[tuple[int, float]]] = {}
    for result in results:
        bandwidth = bandwidth_of(result.answer)
        if bandwidth is not None:
            measured.setdefault(result.variant, []).append((result.round, bandwidth))
    found: dict[int, list[tuple[Variant, float]]] = {}
    for variant, values in measured.items():
        usual = statistics.median(value for _, value in values)
        for round, value in values:
            found.setdefault(round, []).append((variant, math.log(value / usual)))
    return found


def sort_rounds(results: Sequence[Result]) -> Rounds:
    """The most rounds that are steady and comparable; of as many, those with more bandwidth. Not measured: all."""
    every = sorted({result.round for result in results})
    by_round = launches(results)
    if not by_round:
        return Rounds(tuple(every), (), None, None)
    limit = math.log(DRIFT)
    values = {round: [value for _, value in found] for round, found in by_round.items()}
    calm = sorted((statistics.fmean(v), round) for round, v in values.items() if max(v) - min(v) <= limit)
    best: list[tuple[float, int]] = []
    for index, (lowest, _) in enumerate(calm):
        group = [one for one in calm[index:] if one[0] - lowest <= limit]
        best = group if len(group) >= len(best) else best
    steady = tuple(sorted(round for _, round in best))
    flat = [value for found in values.values() for value in found]
    return Rounds(
        steady,
        tuple(round for round in every if round not in steady),
        math.exp(best[-1][0] - best[0][0]) if len(best) > 1 else None,
        math.exp(max(flat) - min(flat)) if len(values) > 1 else None,
    )
