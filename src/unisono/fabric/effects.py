"""What is the node's and what the link's: median polish over pairings, and how likely luck alone would do as much.

Logarithms of times are split, launch by launch, into a level, an effect a node and what is left for the link
(Tukey, Exploratory Data Analysis, 1977): y[i, j] = level + node[i] + node[j] + link[i, j]. Medians keep one slow link
out of its nodes' effects, and one slow node out of its partners'.

A node that is slow is slow in every launch, but for a few that something disturbed. If nodes did not differ, which of
them are as slow as that would be luck, drawn anew in each launch. The chance that any of N is as slow as this one in
all L of them is at most N times the product of the shares of nodes that were as slow in each launch: N^(1 - L) where it
was always the slowest (with launches to spare: the tail of that binomial). That assumes nothing about the form of the
noise. The same holds for links, of which only as many are free as there are more pairs than nodes: of four nodes, the
link that is left over and the one between the other two always have the same residual.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from unisono.fabric.measured import Array

_ITERATIONS = 20


@dataclass(frozen=True, slots=True)
class Effects:
    """Logarithms of ratios to the usual: `nodes` launches x nodes, `links` launches x pairs; `level` a launch."""

    level: Array
    nodes: Array
    links: Array


def polish(times: Array, pairs: Sequence[tuple[int, int]], nodes: int) -> Effects:
    """Of times in any unit, launches x pairs. Nodes in no pair have the effect 0."""
    y = np.log(times)
    ends = np.array(pairs, dtype=int)
    partners: list[list[tuple[int, int]]] = [[] for _ in range(nodes)]
    for number, (a, b) in enumerate(pairs):
        partners[a].append((number, b))
        partners[b].append((number, a))
    width = max(len(found) for found in partners)
    pair_of = np.zeros((nodes, width), dtype=int)
    other_of = np.zeros((nodes, width), dtype=int)
    known = np.zeros((nodes, width), dtype=bool)
    for node, found in enumerate(partners):
        for place, (number, other) in enumerate(found):
            pair_of[node, place], other_of[node, place], known[node, place] = number, other, True
    met = known.any(axis=1)
    level = np.median(y, axis=1)
    effect = np.zeros((y.shape[0], nodes))
    for _ in range(_ITERATIONS):
        left = np.where(known, y[:, pair_of] - level[:, None, None] - effect[:, other_of], np.nan)
        fresh = np.zeros_like(effect)
        fresh[:, met] = np.nanmedian(left[:, met], axis=2)
        effect = (effect + fresh) / 2  # halfway: two nodes that see each other would swap their effects for ever
        centre = np.median(effect[:, met], axis=1)
        effect[:, met] -= centre[:, None]
        level = np.median(y - effect[:, ends[:, 0]] - effect[:, ends[:, 1]], axis=1)
    links = y - level[:, None] - effect[:, ends[:, 0]] - effect[:, ends[:, 1]]
    return Effects(level, effect, links)


def by_luck(effects: Array, bound: float, free: int, spared: int) -> float:
    """At most so likely does luck alone bring any column to `bound` or above in all rows but `spared`.

    `free`: how many of the columns are not tied to others.
    """
    shares = np.minimum((effects >= bound).sum(axis=1) / free, 1.0)
    reached = np.zeros(len(shares) + 1)  # chance of so many launches at or above the bound
    reached[0] = 1.0
    for share in shares:
        reached[1:] = reached[1:] * (1 - share) + reached[:-1] * share
        reached[0] *= 1 - share
    return min(1.0, float(effects.shape[1] * reached[len(shares) - spared :].sum()))


@dataclass(frozen=True, slots=True)
class Slow:
    """One that is slower than the others in every launch; ratios are times over the usual time."""

    number: int
    ratio: float
    low: float
    high: float
    """The least and the most of all launches but those spared."""
    chance: float
    """At most so likely by luck alone."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What is named: `relevant` times the median or more, in all launches but `spared`; by luck with a probability of
    `chance` at most; and `spread` times as far from the median as the others scatter."""

    relevant: float
    chance: float
    spread: float
    spared: int


def slow(effects: Array, bounds: Bounds, among: Collection[int] | None = None, tied: int = 0) -> list[Slow]:
    """Columns of launches x things that are slower than the others, the slowest first.

    What is found is taken out before the next one is looked for, so that it does not hide another. `tied`: how many of
    the effects follow from the others.
    """
    left = sorted(among) if among is not None else list(range(effects.shape[1]))
    found: list[Slow] = []
    while len(left) - tied > 2:
        some = effects[:, left] - np.median(effects[:, left], axis=1)[:, None]
        least = np.sort(some, axis=0)[bounds.spared]
        worst = int(np.argmax(least))
        luck = by_luck(some, float(least[worst]), len(left) - tied, bounds.spared)
        middle = np.median(some, axis=0)
        others = np.delete(middle, worst)
        scatter = 1.4826 * float(np.median(np.abs(others - np.median(others))))
        if (
            least[worst] < np.log(bounds.relevant)
            or luck > bounds.chance
            or middle[worst] < np.median(others) + bounds.spread * scatter
        ):
            break
        ratios = np.exp(np.sort(some[:, worst])[bounds.spared :])
        found.append(Slow(left[worst], float(np.median(ratios)), float(ratios[0]), float(ratios[-1]), luck))
        left.remove(left[worst])
    return sorted(found, key=lambda one: -one.ratio)
