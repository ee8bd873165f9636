"""Studies against each other: boot settings, versions, machines. Case by case, size by size, in words.

Launches of different studies share nothing, so they are compared unpaired. A study is one boot, one day, one set of
nodes: what else changed between two studies is part of the difference and is not averaged out. Two comparisons are made
for every case: the default of each, and the best of each, where the best is what each study by itself would choose for
that collective. Both are chosen on the data they are compared with, so the best flatters all studies alike.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unisono.core.errors import UserError
from unisono.core.interval import Interval
from unisono.core.language import N_, _, listed, translated
from unisono.core.sizes import format_size
from unisono.core.vocabulary import Case
from unisono.decide import differs, sentences
from unisono.decide.fastest import Fastest, fastest
from unisono.decide.labels import label
from unisono.decide.sides import KINDS, Pair, Row, Side
from unisono.study.data import StudyData
from unisono.tuning.finding import Finding
from unisono.tuning.plans import gain_words

if TYPE_CHECKING:
    from rich.console import RenderableType


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
    fastest: tuple[Fastest, ...] = ()
    """Which study is the fastest, in stretches of message sizes."""

    @property
    def sentences(self) -> list[str]:
        return [finding.text for finding in self.findings]

    def verdict(self, other: str | None = None, kind: str = "default") -> str:
        """The others, or one of them, against the reference, over all cases: a word of `differs`."""
        kinds: dict[tuple[Case, str], set[str]] = defaultdict(set)
        for finding in self.findings:
            if finding.case is not None and finding.parameter == kind and other in (None, finding.value):
                kinds[finding.case, str(finding.value)].add(finding.kind)
        rows = differs.by_case(self.rows)
        return differs.of_all(
            [differs.of_case(these, rows.get(case, {}).get((name, kind), ())) for (case, name), these in kinds.items()]
        )

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
            "fastest": [
                {
                    **_case_dict(found.case),
                    "compared": found.kind,
                    "first": found.first,
                    "last": found.last,
                    "fastest": list(found.labels),
                    "over_next": _gain_dict(found.over_next) if found.over_next else None,
                }
                for found in self.fastest
            ],
            "notes": list(self.notes),
        }

    def table(self) -> RenderableType:
        """Differences, findings, and one line a (case, size, other), for the terminal."""
        from rich.console import Group
        from rich.table import Table as RichTable
        from rich.text import Text

        lines = []
        for name, these in self.differences.items():
            between = _("What differs between {reference} (there) and {other} (here):")
            lines += [between.format(reference=translated(self.reference), other=translated(name))] if these else []
            lines += [f"- {translated(sentence)}" for sentence in these]
        grid = RichTable(box=None, pad_edge=False, header_style="bold")
        for name in (_("case"), _("size"), _("against"), _("default"), _("best")):
            left = name in (_("case"), _("against"))
            grid.add_column(name, justify="left" if left else "right", overflow="fold")
        cells: dict[tuple[Case, int, str], dict[str, Row]] = {}
        for row in self.rows:
            cells.setdefault((row.case, row.size, row.other), {})[row.kind] = row
        for (case, size, other), kinds in sorted(cells.items(), key=lambda item: item[0]):
            what = translated(str(case)), format_size(size), translated(other)
            grid.add_row(*what, *(_cell(kinds.get(kind)) for kind in KINDS))
        about = _(
            "Time in {reference} / time in the other study; above 1 the other study is faster. Default: nothing "
            "is set. Best: the setting that each study chooses for itself. Each interval holds for one message "
            "size alone; * marks a difference beyond the margin that holds with all sizes considered."
        ).format(reference=translated(self.reference))
        answer = [self._fastest_table(), Text("")] if self.fastest else []
        said = map(translated, [*self.notes, "", *self.sentences, ""])
        return Group(*map(Text, [*lines, *said]), *answer, Text(about), grid)

    def _fastest_table(self) -> RenderableType:
        """Which study is the fastest, by default and each at its best."""
        from rich.table import Table as RichTable

        grid = RichTable(box=None, pad_edge=False, header_style="bold")
        for name in (_("case"), _("size"), _("compared"), _("fastest"), _("ahead of the next")):
            grid.add_column(name, overflow="fold")
        for found in self.fastest:
            ahead = _("no difference shown")
            if found.over_next is not None:
                ahead = gain_words(found.over_next)
            names = listed([translated(name) for name in found.labels])
            grid.add_row(translated(str(found.case)), found.sizes, _(found.kind), names, ahead)
        return grid


def _cell(row: Row | None) -> str:
    if row is None:
        return ""
    return f"{gain_words(row.gain)}{'*' if row.significant else ' '}"


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
    sides = [Side(study, statistic) for study in studies]
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
                pair = Pair(case, kind, labels[0], other, sides[0], side)
                if not pair.sizes:
                    continue
                if len(pair.sizes) == 1 and kind == KINDS[0]:
                    notes.append(sentences.one_size(case, labels[0], other, pair.sizes[0]))
                verdict = pair.verdict(comparisons, studies[0].margin, studies[0].confidence)
                rows += pair.rows(verdict, studies[0].confidence)
                findings += pair.findings(verdict)
    for name, study in zip(labels, studies, strict=True):
        if study.ended is False:
            notes.append(
                N_(
                    "{label}: the budget ended its search, so it may have a faster best setting than the one shown."
                ).format(label=name)
            )
    if not any(differences):
        notes.append(
            N_(
                "No difference between the machines is known: the differences here show how well such a measurement "
                "repeats."
            )
        )
    return Comparison(
        labels[0],
        tuple(labels[1:]),
        {name: tuple(these) for name, these in zip(labels[1:], differences, strict=True)},
        tuple(rows),
        tuple(findings),
        tuple(notes),
        studies[0].margin,
        studies[0].confidence,
        fastest(labels, sides, studies[0].margin, studies[0].confidence),
    )
