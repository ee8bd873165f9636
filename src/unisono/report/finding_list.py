"""The findings as they are listed: by case, the weightiest first, each with a strip of the sizes it speaks of."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from unisono.core.language import N_, _, translated
from unisono.core.vocabulary import Case
from unisono.report.marks import strip
from unisono.study.data import StudyData
from unisono.tuning.finding import Finding

ICONS = {
    N_("disqualified"): "✕",
    N_("better"): "▲",
    N_("worse"): "▼",
    N_("mixed"): "◆",
    N_("singular point"): "●",
    N_("no difference"): "=",
    N_("folded"): "≡",
    N_("not told"): "?",
    N_("assumed"): "≈",
}
"""Kind of finding -> its mark."""

_FIRST = 8
"""How many findings of a case are shown before the rest is folded away."""


@dataclass(frozen=True, slots=True)
class Entry:
    kind: str
    icon: str
    strip: Markup
    text: str

    @property
    def name(self) -> str:
        """What kind it is, for those who do not see the mark."""
        return _(self.kind)

    @property
    def css(self) -> str:
        return self.kind.replace(" ", "-")


@dataclass(frozen=True, slots=True)
class Group:
    """The findings of one case, or those of none."""

    name: str
    first: list[Entry]
    rest: list[Entry]


def measured_sizes(study: StudyData) -> dict[Case, list[int]]:
    """Those that anything was measured at: a finding may speak of sizes at which what was chosen was not."""
    sizes: dict[Case, set[int]] = defaultdict(set)
    for sample in study.samples:
        sizes[sample.case].add(sample.size)
    return {case: sorted(found) for case, found in sizes.items()}


def finding_groups(
    findings: Sequence[Finding], sizes: Mapping[Case, Sequence[int]], notes: Collection[str] = ()
) -> list[Group]:
    """By collective, then by (nodes, ppn); the general ones last. `sizes`: those measured for each case.

    What is folded is among the study's `notes` too and left to them. A sentence that names its case loses that: the
    heading has it.
    """
    groups: dict[Case | None, list[Finding]] = defaultdict(list)
    for finding in findings:
        if finding.case is not None or finding.text not in notes:
            groups[finding.case].append(finding)
    cases = sorted(case for case in groups if case is not None)
    several = len({(case.nodes, case.ppn) for case in cases}) > 1
    found = []
    for case in [*cases, *([None] if None in groups else [])]:
        name = _("The study as a whole") if case is None else case.collective
        if case is not None and several:
            name = _("{collective}, {nodes} × {ppn} ranks").format(collective=name, nodes=case.nodes, ppn=case.ppn)
        entries = [_entry(finding, sizes.get(case, ()) if case else ()) for finding in _by_weight(groups[case])]
        cut = _FIRST if len(entries) > _FIRST + 2 else len(entries)
        found.append(Group(name, entries[:cut], entries[cut:]))
    return found


def _entry(finding: Finding, sizes: Sequence[int]) -> Entry:
    return Entry(
        kind=finding.kind,
        icon=ICONS.get(finding.kind, "·"),
        strip=strip(finding.first, finding.last, sizes, finding.kind.replace(" ", "-")),
        text=translated(finding.text).removeprefix(translated(f"{finding.case}") + ": "),
    )


def _by_weight(findings: Sequence[Finding]) -> list[Finding]:
    """What disqualifies, then what differs most over most sizes, then what makes no difference."""

    def rank(finding: Finding) -> tuple[int, float]:
        if finding.kind == "disqualified":
            return 0, 0.0
        if finding.kind in ("no difference", "folded", "not told", "assumed"):
            return 2, 0.0
        return 1, -_strength(finding) * _doublings(finding)

    return sorted(findings, key=rank)


def _strength(finding: Finding) -> float:
    if finding.gain is None:
        return 0.0
    return max(abs(math.log(v)) for v in (finding.gain.low, finding.gain.mid, finding.gain.high) if 0 < v < math.inf)


def _doublings(finding: Finding) -> float:
    if finding.first is None or finding.last is None:
        return 1.0
    return 1.0 + math.log2(max(finding.last, 1) / max(finding.first, 1))
