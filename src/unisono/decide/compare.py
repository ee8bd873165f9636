"""Studies against each other: boot settings, versions, machines. Case by case, size by size, in words.

Launches of different studies share nothing, so they are compared unpaired. A study is one boot, one day, one set of
nodes: what else changed between two studies is part of the difference and is not averaged out. Two comparisons are made
for every case: the default of each, and the best of each, where the best is what each study by itself would choose for
that collective. Both are chosen on the data they are compared with, so the best flatters all studies alike.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unisono.decide import sentences
from unisono.decide.choosing import choose
from unisono.decide.claims import Verdict, verdicts
from unisono.decide.disqualify import disqualify
from unisono.decide.findings import NOT_TOLD, shown_by
from unisono.decide.labels import label
from unisono.decide.model import Finding, Interval, Plan
from unisono.decide.plans import base_of, build, launches_of
from unisono.decide.pool import pooled
from unisono.decide.robust import Counts, Floats
from unisono.decide.statistics import contrasts, interval, locations
from unisono.decide.table import filled, size_weights, tables
from unisono.errors import UserError
from unisono.language import N_, _
from unisono.model import DEFAULT, Case, Setting, as_measured
from unisono.sizes import format_size
from unisono.study.data import StudyData

if TYPE_CHECKING:
    from rich.console import RenderableType

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


@dataclass(frozen=True, slots=True)
class Comparison:
    reference: str
    """Label of the first study, the one the others are compared with."""
    others: tuple[str, ...]
    differences: Mapping[str, tuple[str, ...]]
    """Label -> how that study's machine differs from the reference's, in sentences."""
    rows: tuple[Row, ...]
    findings: tuple[Finding, ...]
    """`parameter` is the kind of comparison, `value` the label of the other study."""
    notes: tuple[str, ...]
    margin: float
    confidence: float

    @property
    def sentences(self) -> list[str]:
        return [finding.text for finding in self.findings]

    def verdict(self, other: str | None = None, kind: str = "default") -> str:
        """ "faster", "slower", "mixed", "not told" (nothing differs, and for a case there were too few launches) or
        "no difference": the others, or one of them, against the reference."""
        kinds = {f.kind for f in self.findings if f.parameter == kind and other in (None, f.value)}
        if "mixed" in kinds or {"better", "worse"} <= kinds:
            return "mixed"
        if "better" in kinds:
            return "faster"
        if "worse" in kinds:
            return "slower"
        return NOT_TOLD if NOT_TOLD in kinds else "no difference"

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON; bounds that are not known are null."""
        return {
            "reference": self.reference,
            "others": list(self.others),
            "differences": {label: list(these) for label, these in self.differences.items()},
            "margin": self.margin,
            "confidence": self.confidence,
            "verdict": {other: {kind: self.verdict(other, kind) for kind in KINDS} for other in self.others},
            "findings": [
                {
                    "kind": finding.kind,
                    "case": _case_dict(finding.case) if finding.case else None,
                    "compared": finding.parameter,
                    "other": finding.value,
                    "text": finding.text,
                    "first": finding.first,
                    "last": finding.last,
                    "gain": _gain_dict(finding.gain) if finding.gain else None,
                }
                for finding in self.findings
            ],
            "rows": [
                {
                    **_case_dict(row.case),
                    "size": row.size,
                    "other": row.other,
                    "compared": row.kind,
                    "reference_setting": dict(row.reference_setting),
                    "setting": dict(row.setting),
                    "reference_time": row.reference_time,
                    "time": row.time,
                    "gain": _gain_dict(row.gain),
                    "significant": row.significant,
                }
                for row in self.rows
            ],
            "notes": list(self.notes),
        }

    def table(self) -> RenderableType:
        """Differences, findings, and one line a (case, size, other), for the terminal."""
        from rich.console import Group
        from rich.table import Table as RichTable
        from rich.text import Text

        lines = [f"{label}: {sentence}" for label, these in self.differences.items() for sentence in these]
        grid = RichTable(box=None, pad_edge=False, header_style="bold")
        for name in ("case", "size", "against", "default", "best"):
            grid.add_column(name, justify="left" if name in ("case", "against") else "right", overflow="fold")
        cells: dict[tuple[Case, int, str], dict[str, Row]] = {}
        for row in self.rows:
            cells.setdefault((row.case, row.size, row.other), {})[row.kind] = row
        for (case, size, other), kinds in sorted(cells.items(), key=lambda item: item[0]):
            grid.add_row(str(case), format_size(size), other, *(_cell(kinds.get(kind)) for kind in KINDS))
        about = N_(
            "Time in {reference} / time in the other study; above 1 the other is faster. Intervals "
            "of each size alone; * beyond the margin with all sizes considered."
        ).format(reference=self.reference)
        return Group(
            *(Text(line) for line in [*lines, *self.notes, "", *self.sentences, "", about]),
            grid,
        )


def _cell(row: Row | None) -> str:
    if row is None:
        return ""
    if not math.isfinite(row.gain.high):
        return f"{row.gain.mid:.2f}x (interval unknown) "
    return f"{row.gain.mid:.2f}x ({row.gain.low:.2f} to {row.gain.high:.2f}){'*' if row.significant else ' '}"


def _case_dict(case: Case) -> dict[str, Any]:
    return {"collective": case.collective, "nodes": case.nodes, "ppn": case.ppn}


def _gain_dict(gain: Interval) -> dict[str, float | None]:
    return {"mid": gain.mid, "low": gain.low, "high": gain.high if math.isfinite(gain.high) else None}


def compare(*studies: StudyData, differences: Sequence[Sequence[str]] | None = None) -> Comparison:
    """Two studies or more, the first being the reference; margin and confidence are the first's.

    `differences` are those of each further study's machine (asked of the fingerprints when not given). Raises
    UserError for fewer than two studies, or when no case with a common size was measured in all of them.
    """
    if len(studies) < 2:
        raise UserError(_("a comparison needs two studies or more"))
    if differences is None:
        from unisono.machine.fingerprint import differences as differ

        differences = [differ(studies[0].machine, study.machine) for study in studies[1:]]
    labels = label(studies)
    statistic = "mean" if all(study.method == "classic" for study in studies) else "median"
    sides = [_Side(study, statistic) for study in studies]
    comparisons = 2 * (len(studies) - 1)
    rows: list[Row] = []
    findings: list[Finding] = []
    notes: list[str] = []
    for other, side in zip(labels[1:], sides[1:], strict=True):
        common = [case for case in sides[0].tables if case in side.tables]
        for case in sorted({*sides[0].tables} ^ {*side.tables}):
            notes.append(
                N_("{case}: only in {labels}.").format(
                    case=case, labels=labels[0] if case in sides[0].tables else other
                )
            )
        if not any({*sides[0].tables[case].sizes} & {*side.tables[case].sizes} for case in common):
            raise UserError(
                _("{labels} and {other} have no case with a common message size to compare").format(
                    labels=labels[0], other=other
                )
            )
        for case in common:
            for kind in KINDS:
                pair = _Pair(case, kind, labels[0], other, sides[0], side)
                if not pair.sizes:
                    continue
                if len(pair.sizes) == 1 and kind == KINDS[0]:
                    notes.append(sentences.one_size(case, labels[0], other, pair.sizes[0]))
                verdict = pair.verdict(comparisons, studies[0].margin, studies[0].confidence)
                rows += pair.rows(verdict, studies[0].confidence)
                findings += pair.findings(verdict)
    if not any(differences):
        notes.append(N_("The machines do not differ in anything known: what differs here is how well it repeats."))
    return Comparison(
        labels[0],
        tuple(labels[1:]),
        {name: tuple(these) for name, these in zip(labels[1:], differences, strict=True)},
        tuple(rows),
        tuple(findings),
        tuple(notes),
        studies[0].margin,
        studies[0].confidence,
    )


class _Side:
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
        rule = next(r for r in plan.rules if r.case == case and r.first <= size and (r.last is None or size <= r.last))
        base = base_of(self.tables[case], plan.launch)
        return (as_measured(plan.launch) | rule.call) if rule.call else (base if base is not None else DEFAULT)

    def logs(self, case: Case, size: int, kind: str) -> Floats:
        """Log seconds by launch."""
        table = self.tables[case]
        line: Floats = self._logs[case][table.row(self.setting(case, size, kind)), table.sizes.index(size)]
        return line


class _Pair:
    """One case of two studies, of one kind: the reference's curve and the other's."""

    def __init__(self, case: Case, kind: str, reference: str, other: str, a: _Side, b: _Side) -> None:
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
        times = locations(self._logs)
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
        return Finding(kind, self._case, self._kind, self._labels[1], text, first, last, gain)

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
