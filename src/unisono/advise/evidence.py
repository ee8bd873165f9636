"""What is known about a setting's effect on a mix of calls: from a study's samples, or from a tuning's own gains.

An effect is the logarithm of (time now / time with the setting) for calls of one case, several message sizes weighted
by the time they take now, with half of its interval. Between measured sizes times are interpolated linearly over the
logarithms of size and time; nothing is extrapolated here: a size beyond the measured ones counts as the nearest.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from unisono.core.vocabulary import DEFAULT, PRELOAD, USUAL, Case, Condition, Setting
from unisono.decide.decide import STATISTIC
from unisono.decide.plans import Course, base_of, evaluate
from unisono.decide.robust import Floats
from unisono.decide.statistics import contrasts
from unisono.decide.table import Table, filled, tables
from unisono.study.data import StudyData
from unisono.tuning.contents import Tuning
from unisono.tuning.plans import Plan

CONFIDENCE = 0.9
"""Of each interval taken from a study, by itself: a trial follows, so luck among several settings costs no more than
time. On recorded launches (benchmarks/data) 9 in 10 held what the next five launches were."""
RUNS = 7
"""A prediction is of so many runs of the program, as `unisono verify` makes: their launches differ, too."""
USELESS = math.log(20)
"""Half an interval this wide (a factor of 20 either way) tells no more than no measurement."""
UNLIKE_NOISE = math.log(3)
"""Launches of the same differ by less than this factor: what differs by more is no chance, however few launches it was
seen in; it is then known this well."""
WITHIN_RULE = 0.5
"""A tuning holds one gain for a range of sizes: a single size may be off by this part of its logarithm."""

Now = Setting | None
"""How the program runs now: under the plan with this launch setting, its rules included; None: without a tuning."""
Weights = Mapping[int, float]
"""Message size -> how much of the time is spent at it; any scale."""


@dataclass(frozen=True, slots=True)
class Effect:
    mid: float
    half: float


class Evidence(Protocol):
    """Where effects come from."""

    name: str
    """For the reader: which study or tuning."""

    def sizes(self, case: Case) -> tuple[int, ...]:
        """The measured message sizes of a case, ascending; empty: it was not measured."""
        ...

    def effects(
        self, case: Case, launches: Sequence[Setting], now: Now, cells: Sequence[Weights]
    ) -> list[list[Effect | None]]:
        """For each plan (by its launch setting), for each cell: its effect. None: not measured, or too few launches to
        tell."""
        ...

    def seconds(self, case: Case, now: Now, size: int) -> float:
        """What the benchmark took for one call as things are now; NaN where not known."""
        ...

    def condition(self, case: Case) -> Condition:
        """Under which it was measured."""
        ...


class StudyEvidence:
    """The samples of a study: the mix is put together launch by launch, so that what launches have in common counts
    once. What serves a size is what the tuning says, judged without the launch it was chosen in (decide.plans)."""

    def __init__(self, data: StudyData, tuning: Tuning) -> None:
        self.name = f"study {data.name}"
        self._tuning = tuning
        self._margin = data.margin
        self._confidence = data.confidence
        kept = [sample for sample in data.samples if sample.correct is not False]
        found = tables(kept, STATISTIC.get(data.method, "median"))
        self._tables = {case: table for case, table in found.items() if DEFAULT in table}
        self._rows: dict[Case, dict[Now, Floats]] = {}
        self._conditions = {sample.case: sample.condition for sample in kept}

    def sizes(self, case: Case) -> tuple[int, ...]:
        return self._tables[case].sizes if case in self._tables else ()

    def effects(
        self, case: Case, launches: Sequence[Setting], now: Now, cells: Sequence[Weights]
    ) -> list[list[Effect | None]]:
        nothing: list[list[Effect | None]] = [[None] * len(cells) for _ in launches]
        table = self._tables.get(case)
        if table is None or not cells:
            return nothing
        rows = self._of(case, table, [now, *launches])
        levels = _levels(rows[now])
        compared = [rows[now], *(rows[launch] for launch in launches)]
        values = np.stack([np.stack([_mixed(table, logs, levels, cell) for cell in cells]) for logs in compared])
        contrast = contrasts(values, 0, table.rounds)
        half = contrast.half(CONFIDENCE, 1.0) * np.sqrt(1 + contrast.launches / RUNS)
        for at in range(len(launches)):
            row = at + 1
            for cell in range(len(cells)):
                same = np.array_equal(values[row, cell], values[0, cell], equal_nan=True)
                if same and np.isfinite(values[0, cell]).any():
                    nothing[at][cell] = Effect(0.0, 0.0)
                elif np.isfinite(contrast.log[row, cell]) and half[row, cell] < USELESS:
                    nothing[at][cell] = Effect(float(contrast.log[row, cell]), float(half[row, cell]))
                elif abs(contrast.log[row, cell]) > UNLIKE_NOISE:
                    nothing[at][cell] = Effect(float(contrast.log[row, cell]), UNLIKE_NOISE)
        return nothing

    def seconds(self, case: Case, now: Now, size: int) -> float:
        table = self._tables.get(case)
        if table is None:
            return math.nan
        logs = self._of(case, table, [now])[now]
        return float(np.exp(_at(table.sizes, _levels(logs)[:, None], size)[0]))

    def condition(self, case: Case) -> Condition:
        return self._conditions.get(case, USUAL)

    def _of(self, case: Case, table: Table, launches: Sequence[Now]) -> dict[Now, Floats]:
        """Log seconds (sizes x launches) under the tuning's plan for each launch setting; NaN where not measured."""
        known = self._rows.setdefault(case, {})
        wanted = [launch for launch in dict.fromkeys(launches) if launch not in known]
        if wanted:
            logs = filled(table.logs)
            evaluation = evaluate(table, [w for w in wanted if w is not None], self._margin, self._confidence)
            courses = {course.launch: course for course in evaluation.courses}
            for launch in wanted:
                if launch is None:
                    known[None] = logs[table.row(DEFAULT)]
                    continue
                plan = plan_of(self._tuning, case, launch)
                known[launch] = _under(table, logs, launch, plan, courses.get(launch))
        return known


def plan_of(tuning: Tuning, case: Case, launch: Setting) -> Plan | None:
    """The tuning's plan with a launch setting for a case's ranks."""
    return next((plan for plan in tuning.plans_for(case.nodes, case.ppn) if plan.launch == launch), None)


def _under(table: Table, logs: Floats, launch: Setting, plan: Plan | None, course: Course | None) -> Floats:
    """What was measured of a plan, size by size: as deciding judged it where it chose the same, else as measured."""
    found = np.full(logs.shape[1:], np.nan)
    base = base_of(table, launch)
    if base is None:
        return found
    judged: dict[int, tuple[Setting, Floats]] = {}
    if course is not None:
        for first, last, setting in course.spans:
            for at in range(first, last + 1):
                judged[course.sizes[at]] = (setting, course.logs[at])
    for index, size in enumerate(table.sizes):
        rule = plan.rule_at(table.case.collective, size) if plan is not None else None
        setting = launch.without("coll", PRELOAD) | rule.call if rule is not None and rule.call else base
        if index in judged and judged[index][0] == setting:
            found[index] = judged[index][1]
        elif setting in table:
            found[index] = logs[table.row(setting), index]
    return found


def _levels(logs: Floats) -> Floats:
    """The typical value of each size over launches; NaN where there is none."""
    present = np.isfinite(logs)
    levels = np.full(len(logs), np.nan)
    for index in np.flatnonzero(present.any(axis=1)):
        levels[index] = float(np.median(logs[index][present[index]]))
    return levels


def _mixed(table: Table, logs: Floats, levels: Floats, cell: Weights) -> Floats:
    """Log of the mix's time in each launch, relative to what it takes now (`levels`)."""
    total = math.fsum(cell.values())
    mixed = np.zeros(logs.shape[1])
    for size, weight in cell.items():
        usual = _at(table.sizes, levels[:, None], size)
        mixed = mixed + weight / total * np.exp(_at(table.sizes, logs, size) - usual)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.log(mixed))


def _at(sizes: Sequence[int], logs: Floats, size: int) -> Floats:
    """Rows of `logs` (sizes x launches) at any size: interpolated between its neighbours, the nearest beyond the ends.
    Sizes without any value are passed over."""
    rows = np.flatnonzero(np.isfinite(logs).any(axis=1))
    if not len(rows):
        return np.full(logs.shape[1], np.nan)
    places = np.log2(np.maximum(np.asarray(sizes, dtype=np.float64)[rows], 0.5))
    place = min(max(math.log2(max(size, 0.5)), places[0]), places[-1])
    above = int(np.searchsorted(places, place))
    if places[above] == place:
        return np.asarray(logs[rows[above]])
    share = (place - places[above - 1]) / (places[above] - places[above - 1])
    return np.asarray((1 - share) * logs[rows[above - 1]] + share * logs[rows[above]])


class TuningEvidence:
    """A tuning's own gains, where there is no study: one for a range of sizes, so a single size is less certain."""

    def __init__(self, tuning: Tuning) -> None:
        self.name = f"tuning {tuning.name}"
        self._tuning = tuning

    @cached_property
    def _sizes(self) -> dict[Case, tuple[int, ...]]:
        found: dict[Case, set[int]] = {}
        for plan in self._tuning.plan:
            for rule in plan.rules:
                found.setdefault(Case(rule.collective, plan.nodes, plan.ppn), set()).update(rule.sizes)
        return {case: tuple(sorted(sizes)) for case, sizes in found.items()}

    def sizes(self, case: Case) -> tuple[int, ...]:
        return self._sizes.get(case, ())

    def effects(
        self, case: Case, launches: Sequence[Setting], now: Now, cells: Sequence[Weights]
    ) -> list[list[Effect | None]]:
        return [[self._effect(case, launch, now, cell) for cell in cells] for launch in launches]

    def seconds(self, case: Case, now: Now, size: int) -> float:
        return math.nan

    def condition(self, case: Case) -> Condition:
        return USUAL

    def _effect(self, case: Case, launch: Setting, now: Now, cell: Weights) -> Effect | None:
        if launch == now:
            return Effect(0.0, 0.0)
        after = self._gains(case, launch, cell)
        before = Effect(0.0, 0.0) if now is None else self._gains(case, now, cell)
        if after is None or before is None:
            return None
        half = after.half + before.half
        return Effect(after.mid - before.mid, half) if half < USELESS else None

    def _gains(self, case: Case, launch: Setting, cell: Weights) -> Effect | None:
        """Against the default, over all sizes of the cell."""
        plan = plan_of(self._tuning, case, launch)
        if plan is None:
            return None
        total = math.fsum(cell.values())
        ends = [0.0, 0.0, 0.0]
        for size, weight in cell.items():
            found = _rule_gain(plan, case.collective, size)
            if found is None:
                return None
            for at, log in enumerate((found.mid, found.mid - found.half, found.mid + found.half)):
                ends[at] += weight / total * math.exp(-log)
        mid, low, high = (-math.log(end) for end in ends)
        return Effect(mid, max(high - mid, mid - low))


def _rule_gain(plan: Plan, collective: str, size: int) -> Effect | None:
    """Log gain of one size: the rule's for its range, else the plan's for all sizes; None: neither, or unbounded."""
    rule = plan.rule_at(collective, size)
    gain = rule.gain if rule is not None else plan.gain.get(collective)
    if gain is None or gain.low <= 0 or not math.isfinite(gain.high):
        return None
    mid = math.log(gain.mid)
    alone = rule is not None and len(rule.sizes) == 1
    return Effect(
        mid,
        max(math.log(gain.high) - mid, mid - math.log(gain.low)) + (0.0 if alone else WITHIN_RULE * abs(mid)),
    )
