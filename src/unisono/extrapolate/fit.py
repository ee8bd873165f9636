"""Models of one collective under several settings, fitted to what was measured on some numbers of nodes.

The time of a setting is a sum of terms, none negative: a constant, starts, bytes moved, bytes of the vector (`terms`
has how they grow). They are fitted in relative error. What remains at a message size (protocols, caches: no straight
line fits seven decades) is carried over from the nearest number of nodes measured, at the same size of the messages
sent.

How wrong that is, is told by the counts that were measured: each is predicted from those below it, the growth being
chosen without it too, and the error taken by doubling. What all settings have in common of it (the network was slower
than it should have been) does not change their order, so the rest of a setting's own is kept beside it. From a single
count nothing can be told: the spread is then assumed, and wide. Two counts are one step, whatever the number of
settings and sizes: what is assumed keeps its weight beside so few steps.

The default is a table of algorithms by ranks and size, so that it may become another algorithm at the next count, and
a faster one. Nothing that grows by a law says how probable that is: its errors are never judged by those of the others.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from unisono.core.vocabulary import DEFAULT, Setting
from unisono.decide.decision import Estimate
from unisono.extrapolate.contention import Contention, Network
from unisono.extrapolate.terms import BLOCKS, EVERY, Growth, known

ASSUMED = 0.35
"""Standard deviation (log) by doubling where a single number of nodes was measured: an assumption, a factor of two
either way at 95 %."""
ASSUMED_OWN = 0.25
"""The same without what all settings have in common, half of the variance."""
ASSUMED_DOF = 4.0
ASSUMED_STEPS = 2.0
"""What is assumed counts like so many steps from one number of nodes to the next."""
FLOOR = 0.03
"""Least standard deviation (log) by doubling: counts that fit by luck do not make a prediction perfect."""
NEAREST = 0.25
"""Doublings that a count is away at least where it is not the measured one itself."""
PRIOR = 2.0
"""Errors of all settings together count like so many of the setting's own."""
STEPS = 2
"""A growth is chosen by what it predicts only from so many steps on: a single step may be a jump (the first messages
that leave a switch)."""
LEFT = 0.1
"""Of a measured time, so much at least is not that messages met on a link: links that are full in the model alone."""
BETTER = 0.8
"""A growth replaces the one known of an algorithm only where its error is at most this share of that one's."""


@dataclass(frozen=True, slots=True)
class Point:
    """What one setting took: seconds, over all launches, at one message size (bytes) on nodes x ppn."""

    nodes: int
    ppn: int
    size: int
    seconds: float
    noise: float = 0.0
    """Standard deviation of its logarithm from one set of launches to another; 0 for what is exact."""

    @property
    def ranks(self) -> int:
        return self.nodes * self.ppn


def point_of(estimate: Estimate) -> Point:
    """Half an interval of 95 % is two standard deviations, or more with few launches;
    where the launches tell nothing of their noise, it is assumed to be wide."""
    case, time = estimate.case, estimate.time
    is_known = time.low > 0 and math.isfinite(time.high)
    noise = (math.log(time.high) - math.log(time.low)) / 4 if is_known else ASSUMED_OWN
    return Point(case.nodes, case.ppn, estimate.size, time.mid, noise)


@dataclass(frozen=True, slots=True)
class Forecast:
    """A time that was not measured; its logarithm has Student's distribution about log(seconds)."""

    seconds: float
    spread: float
    """Standard deviation of the logarithm."""
    own: float
    """The same without what is in common with all settings of the collective."""
    dof: float
    noise: float = 0.0
    """What of it is noise of what was measured."""

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Seconds, low and high."""
        from scipy.stats import t

        width = float(t.ppf((1 + confidence) / 2, self.dof)) * self.spread
        return self.seconds * math.exp(-width), self.seconds * math.exp(min(width, 700.0))


class Predictor(Protocol):
    """What tells the times of one setting of one collective."""

    @property
    def points(self) -> tuple[Point, ...]:
        """What was measured."""
        ...

    def forecast(self, size: int, nodes: int, ppn: int) -> Forecast | None:
        """None where nothing is known."""
        ...


@dataclass(frozen=True, slots=True)
class Model:
    """One setting of one collective, by a law."""

    collective: str
    growth: Growth
    terms: tuple[float, ...]
    """Seconds for each of `columns`."""
    points: tuple[Point, ...]
    contention: Contention | None = None
    """None: nothing is known of the network."""
    by_doubling: float = ASSUMED
    own: float = ASSUMED_OWN
    dof: float = ASSUMED_DOF

    def forecast(self, size: int, nodes: int, ppn: int) -> Forecast | None:
        """None outside the message sizes that were measured, or for ranks a node that were not."""
        same = [_alone(point, self.contention) for point in self.points if point.ppn == ppn]
        if not same or nodes * ppn < 2:
            return None
        distance = min(abs(math.log2(nodes / point.nodes)) for point in same)
        nearest = max(point.nodes for point in same if abs(math.log2(nodes / point.nodes)) == distance)
        here = [point for point in same if point.nodes == nearest]
        message = math.log(max(1.0, self.growth.message_of(self.collective, size, nodes * ppn)))
        at = [math.log(max(1.0, self.growth.message_of(self.collective, p.size, p.ranks))) for p in here]
        slack = math.log(8.0) if len(at) > 1 else 0.0
        if not min(at) - slack <= message <= max(at) + slack:
            return None
        order = np.argsort(at)
        left = [math.log(here[n].seconds / self._bare(here[n])) for n in order]
        rest = float(np.interp(message, [at[n] for n in order], left))
        noise = float(np.interp(message, [at[n] for n in order], [here[n].noise for n in order]))
        there = Point(nodes, ppn, size, self.bare(size, nodes, ppn) * math.exp(rest))
        seconds, luck = self._at_size([point for point in same if point.size == size], there, distance)
        if self.contention is not None:
            seconds += self.contention.seconds(size, nodes, ppn)
        noise = math.hypot(noise, luck)
        far = math.sqrt(max(distance, NEAREST)) if distance else 0.0
        spread, own = (max(FLOOR, math.hypot(one * far, noise)) for one in (self.by_doubling, self.own))
        return Forecast(seconds, spread, own, self.dof, noise)

    def _at_size(self, points: Sequence[Point], there: Point, distance: float) -> tuple[float, float]:
        """Seconds `there`, whose own are those of the law of all sizes, and what noise was added (log).

        They follow how the times at this one message size grow (pieces of a pipeline, a protocol's start: what costs
        so much a step at this size and another at the next), as far as that is more than noise."""
        if len({point.ranks for point in points}) < 2 or self.collective in BLOCKS:
            return there.seconds, 0.0
        moved = math.log(self._grown(points, there, distance) / there.seconds)
        noise = 0.0
        for n, point in enumerate(points):
            if point.noise:
                unlucky = [*points[:n], replace(point, seconds=point.seconds * math.exp(point.noise)), *points[n + 1 :]]
                noise = math.hypot(noise, math.log(self._grown(unlucky, there, distance) / there.seconds) - moved)
        share = max(0.0, 1 - (noise / moved) ** 2) if noise and moved else 1.0
        return there.seconds * math.exp(share * moved), share * noise

    def _grown(self, points: Sequence[Point], there: Point, distance: float) -> float:
        """Seconds `there` by a share that stays and one that grows with the steps, from points of one message size."""
        growth = self.growth
        # A chain passes on the whole vector, in pieces; a ring and halves leave out a rank's own block.
        grows = growth.bytes == "share" and not growth.is_chain
        all_points = (*points, there)
        shares = [(1 - grows / p.ranks, growth.starts_of(self.collective, p.ranks)) for p in all_points]
        sigma = [math.hypot(point.noise, FLOOR) for point in points] + [ASSUMED_OWN * max(distance, NEAREST)]
        weights = [1 / (p.seconds * error) for p, error in zip(all_points, sigma, strict=True)]
        stays, steps = _two_shares(shares, weights, [1 / error for error in sigma])
        times = [stays * first + steps * second for first, second in shares]
        nearest = max(range(len(points)), key=lambda n: points[n].ranks * (points[n].ranks <= there.ranks))
        return times[-1] * points[nearest].seconds / times[nearest]

    def bare(self, size: int, nodes: int, ppn: int) -> float:
        """Seconds by the law alone."""
        return self._bare(Point(nodes, ppn, size, 1.0))

    def _bare(self, point: Point) -> float:
        return max(float(np.dot(columns(self.collective, self.growth, point), self.terms)), 1e-12)


def _two_shares(
    columns: Sequence[tuple[float, float]], weights: Sequence[float], wanted: Sequence[float]
) -> tuple[float, float]:
    """Least squares of two unknowns, neither negative, of weighted rows. In closed form, as fitting asks for it at each
    point, and a solver would take most of its time."""
    rows = [(w * first, w * second) for w, (first, second) in zip(weights, columns, strict=True)]
    aa, ab, bb = (math.fsum(r[i] * r[j] for r in rows) for i, j in ((0, 0), (0, 1), (1, 1)))
    ya, yb = (math.fsum(r[i] * y for r, y in zip(rows, wanted, strict=True)) for i in (0, 1))
    determinant = aa * bb - ab * ab
    if determinant > 1e-12 * aa * bb:
        first, second = (ya * bb - yb * ab) / determinant, (yb * aa - ya * ab) / determinant
        if first >= 0 and second >= 0:
            return first, second
        return (0.0, yb / bb) if first < 0 else (ya / aa, 0.0)
    return 0.0, yb / bb


def columns(collective: str, growth: Growth, point: Point) -> list[float]:
    """The terms at a point, each for a coefficient of one second (a byte's in nanoseconds)."""
    at = (collective, point.size, point.ranks)
    starts = growth.starts_of(collective, point.ranks)
    return [1.0, starts, growth.bytes_of(*at) * 1e-9, growth.vector_of(*at) * 1e-9]


def _alone(point: Point, contention: Contention | None) -> Point:
    """The same without what messages on the same links took longer, which is never all of it."""
    if contention is None:
        return point
    longer = contention.seconds(point.size, point.nodes, point.ppn)
    return replace(point, seconds=max(point.seconds - longer, LEFT * point.seconds)) if longer else point


def fit_one(collective: str, growth: Growth, points: Sequence[Point], contention: Contention | None = None) -> Model:
    """Of a growth that is given. A constant and the vector's own bytes are told from the rest by two numbers of nodes
    or more."""
    from scipy.optimize import nnls

    alone = [_alone(point, contention) for point in points]
    rows = np.array([columns(collective, growth, point) for point in alone])
    if len({point.ranks for point in alone}) < 2:
        rows[:, [0, 3]] = 0.0
    rows /= np.array([[point.seconds] for point in alone])
    scale = np.maximum(np.abs(rows).max(axis=0), 1e-300)
    found, _rest = nnls(rows / scale, np.ones(len(alone)))
    return Model(collective, growth, tuple(float(value) for value in found / scale), tuple(points), contention)


Errors = dict[int, dict[int, float]]
"""Number of nodes predicted -> message size -> error (log, by doubling) of predicting it from the numbers below."""


def fit(
    collective: str,
    measured: Mapping[Setting, Iterable[Point]],
    *,
    shared: bool = False,
    network: Network | None = None,
) -> dict[Setting, Model]:
    """A model of every setting that was measured at two message sizes or more. `measured`: what each setting took;
    `shared`: whether the nodes share their CPUs, so that what all ranks send counts; `network`: what is known
    of what lies between them."""
    all_points = {setting: tuple(points) for setting, points in measured.items()}
    all_points = {setting: points for setting, points in all_points.items() if len({p.size for p in points}) > 1}
    laws = {setting: Law(collective, setting, shared, network) for setting in all_points}
    errors = {setting: laws[setting].onward(points) for setting, points in all_points.items()}
    own = _without_common(errors)
    # Settings at one step are no witnesses of the next: only steps are counted.
    dof = ASSUMED_DOF + len({count for error in errors.values() for count in error})
    return {
        setting: replace(
            laws[setting].model(points),
            by_doubling=_spread(errors, setting, ASSUMED),
            own=_spread(own, setting, ASSUMED if setting == DEFAULT else ASSUMED_OWN),
            dof=dof,
        )
        for setting, points in all_points.items()
    }


def _spread(errors: Mapping[Setting, Errors], setting: Setting, assumed: float) -> float:
    """Root mean square, moderated with that of all settings and with what is assumed; a number of nodes counts once,
    whatever its sizes and settings. The default's is moderated with what is assumed alone."""
    squares = {s: [float(np.mean(np.square(list(one.values())))) for one in e.values()] for s, e in errors.items()}
    mine, others = squares[setting], [square for s, found in squares.items() if s != DEFAULT for square in found]
    if setting != DEFAULT and others:
        mean = (sum(mine) + PRIOR * float(np.mean(others))) / (len(mine) + PRIOR)
    else:
        mean = float(np.mean(mine)) if mine else 0.0
    steps = len({count for error in errors.values() for count in error}) if setting != DEFAULT else len(mine)
    return max(FLOOR, math.sqrt((steps * mean + ASSUMED_STEPS * assumed**2) / (steps + ASSUMED_STEPS)))


def _without_common(errors: Mapping[Setting, Errors]) -> dict[Setting, Errors]:
    """The errors less their median over the settings, at each number of nodes and size that three or more share."""
    at: dict[tuple[int, int], list[float]] = defaultdict(list)
    for error in errors.values():
        for count, sizes in error.items():
            for size, value in sizes.items():
                at[count, size].append(value)
    common = {key: float(np.median(values)) if len(values) > 2 else 0.0 for key, values in at.items()}
    return {
        setting: {count: {size: v - common[count, size] for size, v in sizes.items()} for count, sizes in error.items()}
        for setting, error in errors.items()
    }


@dataclass(frozen=True, slots=True)
class Law:
    """How the times of one setting are known to grow, before any is looked at."""

    collective: str
    setting: Setting
    shared: bool
    network: Network | None

    def model(self, points: Sequence[Point]) -> Model:
        return self._of(self._growth(points), points)

    def onward(self, points: Sequence[Point]) -> Errors:
        """Every count predicted from those below, which alone choose the growth."""
        found = {}
        for count in sorted({point.nodes for point in points})[1:]:
            growth = self._growth([point for point in points if point.nodes < count])
            if errors := self._step(growth, points, count):
                found[count] = errors
        return found

    def _of(self, growth: Growth, points: Sequence[Point]) -> Model:
        contention = None if self.network is None else Contention(self.network, self.collective, self.setting)
        return fit_one(self.collective, growth, points, contention)

    def _growth(self, points: Sequence[Point]) -> Growth:
        """The growth known of the algorithm, unless another predicts the larger counts from those below far better."""
        own = known(self.collective, self.setting.get("algorithm", ""), shared=self.shared)
        counts = sorted({point.nodes for point in points})[1:]
        if len(counts) < STEPS:
            return own
        errors = {}
        for growth in (own, *(replace(one, shared=self.shared) for one in EVERY)):
            found = [error for count in counts for error in self._step(growth, points, count).values()]
            errors[growth] = math.sqrt(float(np.mean(np.square(found)))) if found else math.inf
        best = min(errors, key=lambda growth: errors[growth])
        # The default changes its algorithm with the size: no one growth is known of it.
        share = 1.0 if self.setting == DEFAULT else BETTER
        return best if errors[best] < share * errors[own] else own

    def _step(self, growth: Growth, points: Sequence[Point], count: int) -> dict[int, float]:
        """Message size -> error of predicting `count` nodes from those below; empty where nothing is comparable."""
        below = [point for point in points if point.nodes < count]
        if len({point.size for point in below}) < 2:
            return {}
        model = self._of(growth, below)
        distance = max(math.log2(count / max(point.nodes for point in below)), NEAREST)
        found = {}
        for point in points:
            forecast = model.forecast(point.size, point.nodes, point.ppn) if point.nodes == count else None
            if forecast is not None:
                found[point.size] = math.log(forecast.seconds / point.seconds) / distance
        return found
