"""Two studies side by side in one case: their times by launch, and where they differ."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unisono.core.interval import Interval
from unisono.core.language import N_
from unisono.core.vocabulary import DEFAULT, Case, Setting, as_measured
from unisono.decide import sentences
from unisono.decide.claims import Verdict, verdicts
from unisono.decide.disqualify import disqualify
from unisono.decide.findings import NOT_TOLD, shown_by
from unisono.decide.plans import base_of, build, launches_of
from unisono.decide.pool import pooled
from unisono.decide.robust import Counts, Floats
from unisono.decide.statistics import contrasts, interval, locations
from unisono.decide.table import filled, size_weights, tables
from unisono.study.data import StudyData
from unisono.tuning.choosing import choose
from unisono.tuning.finding import Finding
from unisono.tuning.plans import Plan

KINDS = ("default", "best")


@dataclass(frozen=True, slots=True)
class Row:
    """One (case, size) in two studies. `gain`: time in the reference study / time in `other`; above 1 is faster."""

    case: Case
    size: int
    other: str
    kind: str
    """ "default" against default, or "best" against best."""
    reference_setting: Setting
    setting: Setting
    reference_time: float
    time: float
    """Seconds."""
    gain: Interval
    """Of this size alone."""
    significant: bool
    """Whether they differ beyond the margin, all sizes of the case considered: what the findings say."""


class Side:
    """One study's tables and what it would choose."""

    def __init__(self, study: StudyData, statistic: str) -> None:
        scope = study.scope
        failures = [launch for launch in study.launches if launch.status != "done"]
        out = disqualify(study.samples, failures, study.refusals, scope)
        found = tables((sample for sample in study.samples if out.keeps(sample, scope)), statistic)
        self.tables = {case: pooled(table, study.margin) for case, table in found.items() if DEFAULT in table}
        self._logs = {case: filled(table.logs) for case, table in self.tables.items()}
        self._chosen: dict[Case, Plan] = {}
        for nodes, ppn in {(case.nodes, case.ppn) for case in self.tables}:
            group = {c.collective: t for c, t in self.tables.items() if (c.nodes, c.ppn) == (nodes, ppn)}
            allowed = [p for p in launches_of(list(group.values())) if out.allows(p, nodes, ppn, scope)]
            plans = build(group, study.margin, study.confidence, allowed)
            for collective, table in group.items():
                self._chosen[table.case] = choose(plans, {collective: 1.0}, study.margin)

    def setting(self, case: Case, size: int, kind: str) -> Setting:
        """The measured setting that stands for the default, or for the best choice, at a size."""
        if kind == "default":
            return DEFAULT
        plan = self._chosen[case]
        rule = plan.rule_at(case.collective, size)
        base = base_of(self.tables[case], plan.launch)
        return (as_measured(plan.launch) | rule.call) if rule and rule.call else (base if base is not None else DEFAULT)

    def logs(self, case: Case, size: int, kind: str) -> Floats:
        """Log seconds by launch."""
        table = self.tables[case]
        line: Floats = self._logs[case][table.row(self.setting(case, size, kind)), table.sizes.index(size)]
        return line


class Pair:
    """One case of two studies, of one kind: the reference's curve and the other's."""

    def __init__(self, case: Case, kind: str, reference: str, other: str, a: Side, b: Side) -> None:
        self._case, self._kind, self._labels, self._sides = case, kind, (reference, other), (a, b)
        self.sizes = sorted({*a.tables[case].sizes} & {*b.tables[case].sizes})
        counts = [len(side.tables[case].launches) for side in (a, b)]
        self._logs: Floats = np.full((2, len(self.sizes), sum(counts)), np.nan)
        for row, (side, columns) in enumerate(zip((a, b), (slice(0, counts[0]), slice(counts[0], None)), strict=True)):
            for index, size in enumerate(self.sizes):
                self._logs[row, index, columns] = side.logs(case, size, kind)
        # No two launches of different studies belong together.
        self._rounds: Counts = np.arange(sum(counts), dtype=np.int64)

    def verdict(self, comparisons: int, margin: float, confidence: float) -> Verdict:
        """At which sizes the two differ, all sizes and `comparisons` of the case considered."""
        (found,) = verdicts(self._logs, self._rounds, size_weights(self.sizes), comparisons, margin, confidence)
        return found

    def rows(self, verdict: Verdict, confidence: float) -> list[Row]:
        apart = {index for claim in verdict.claims for index in range(claim.first, claim.last + 1)}
        fit = contrasts(self._logs, 0, self._rounds)
        half = fit.half(confidence)
        times = locations(self._logs, self._rounds)
        found = []
        for index, size in enumerate(self.sizes):
            log = float(fit.log[1, index])
            if math.isfinite(log):
                found.append(
                    Row(
                        self._case,
                        size,
                        self._labels[1],
                        self._kind,
                        self._sides[0].setting(self._case, size, self._kind),
                        self._sides[1].setting(self._case, size, self._kind),
                        math.exp(times.log[0, index]),
                        math.exp(times.log[1, index]),
                        interval(log, float(half[1, index])),
                        index in apart,
                    )
                )
        return found

    def findings(self, verdict: Verdict) -> list[Finding]:
        """One finding a direction, or one saying that there is none."""
        sizes = [self.sizes[index] for index in verdict.measured]
        if not sizes:
            return []
        text = self._text(verdict, sizes)
        if not verdict.claims:
            limit = shown_by(verdict)
            if limit > sentences.TOO_VAGUE:
                return [self._finding(NOT_TOLD, text, sizes[0], sizes[-1], None)]
            return [self._finding("no difference", text, sizes[0], sizes[-1], Interval(1.0, 1 / limit, limit))]
        found = []
        for faster, claims in itertools.groupby(sorted(verdict.claims, key=lambda c: c.faster), lambda c: c.faster):
            these = list(claims)
            gain = Interval(
                math.exp(math.fsum(c.mean for c in these) / len(these)),
                math.exp(min(c.low for c in these)),
                math.exp(max(c.high for c in these)),
            )
            first, last = self.sizes[min(c.first for c in these)], self.sizes[max(c.last for c in these)]
            found.append(self._finding("better" if faster else "worse", text, first, last, gain))
        if len(found) == 2:
            low, high = min(f.gain.low for f in found if f.gain), max(f.gain.high for f in found if f.gain)
            middle = math.exp(math.fsum(c.mean for c in verdict.claims) / len(verdict.claims))
            return [self._finding("mixed", text, sizes[0], sizes[-1], Interval(middle, low, high))]
        return found

    def _finding(self, kind: str, text: str, first: int, last: int, gain: Interval | None) -> Finding:
        return Finding.of(
            self._case, kind, text, parameter=self._kind, value=self._labels[1], first=first, last=last, gain=gain
        )

    def _text(self, verdict: Verdict, sizes: Sequence[int]) -> str:
        reference, other = self._labels
        what = other if self._kind == "default" else N_("the best of {other}").format(other=other)
        than = reference if self._kind == "default" else N_("the best of {reference}").format(reference=reference)
        stretches = [
            (self.sizes[c.first], self.sizes[c.last], math.exp(c.low), math.exp(c.high)) for c in verdict.claims
        ]
        covered = sum(sizes.index(last) - sizes.index(first) + 1 for first, last, _, _ in stretches)
        if not stretches:
            return sentences.alike(self._case, what, than, shown_by(verdict))
        return sentences.compared(self._case, what, than, stretches, sizes, covered == len(sizes))
