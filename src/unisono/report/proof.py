"""The proof: default against tuned on fresh launches, one row a collective."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unisono.core import sums
from unisono.core.interval import Interval
from unisono.core.language import _, listed, translated
from unisono.core.sizes import format_size
from unisono.core.vocabulary import Case, Level
from unisono.decide.decision import Decision
from unisono.report.marks import RatioScale, interval_mark, kind, ratio_axis
from unisono.report.text import count, join
from unisono.report.view import CaseView, verdict
from unisono.tuning import words


@dataclass(frozen=True, slots=True)
class ProvenSize:
    """One message size: default / tuned, and the median of the tuned launches in seconds."""

    size: int
    gain: Interval
    tuned: float


@dataclass(frozen=True, slots=True)
class Proven:
    """What a verification found for one case: default / tuned, from `launches` of each, interleaved."""

    case: Case
    gain: Interval
    launches: int
    """0: both are the same, since the decision sets nothing."""
    verdict: str
    sizes: tuple[ProvenSize, ...]


def proven(verification: Mapping[str, Any] | None) -> dict[Case, Proven]:
    """Of the document a study keeps, `advise.prove.Proof.as_dict()`."""
    found = {}
    for item in (verification or {}).get("cases", ()):
        case = Case(item["collective"], item["nodes"], item["ppn"])
        sizes = [
            ProvenSize(size["size"], Interval(**size["gain"]), statistics.median(size["tuned"]))
            for size in item["sizes"]
        ]
        found[case] = Proven(case, Interval(**item["gain"]), item["launches"], item["verdict"], tuple(sizes))
    return found


def table(
    views: Sequence[CaseView],
    decision: Decision,
    fresh: Mapping[Case, Proven],
    verification: Mapping[str, Any] | None,
    level: Level | None = None,
) -> Mapping[str, Any]:
    """The forest plot's rows. Without a verification they are the study's own gains, and the note says so. `level`:
    what sums do not depend on; then a reduction's gain in the study has another default than the proof's."""
    study = {view.case: view.gain for view in views if view.gain is not None}
    kept = {view.case for view in views if view.keeps_default}
    shown = {case: fresh[case].gain if case in fresh else gain for case, gain in study.items()}
    scale = RatioScale.over([*shown.values(), *(study[case] for case in shown if case in fresh)], width=460)
    rows = []
    for case, gain in shown.items():
        found = fresh.get(case)
        measured = found is not None and found.launches > 0
        rows.append(
            {
                "label": case.collective,
                "ranks": _("{nodes} × {ppn} ranks").format(nodes=case.nodes, ppn=case.ppn),
                "gain": gain if measured or case not in kept else None,
                "mark": interval_mark(scale, gain, decision.margin, second=study[case] if measured else None)
                if measured or case not in kept
                else "",
                "launches": str(found.launches) if found and measured else "",
                "verdict": _verdict(found, gain, case in kept),
                "css": "worse" if found and found.verdict == "wrong results" else kind(gain),
            }
        )
    measured_any = any(found.launches for found in fresh.values())
    return {
        "rows": rows,
        "heading": _("Proof") if measured_any else _("In the study"),
        "axis": ratio_axis(scale),
        "launches": _("launches each") if measured_any else "",
        "note": _note(decision, fresh),
        "failures": [_failure(failure) for failure in (verification or {}).get("failures", ())],
        "remarks": [
            *(translated(note) for note in (verification or {}).get("notes", ())),
            *(
                said
                for view in views
                if not sums.is_ordered(view.case.collective, level)
                and (said := _apart(view, fresh.get(view.case), decision.margin))
            ),
        ],
    }


def _apart(view: CaseView, found: Proven | None, margin: float) -> str:
    """Where the proof contradicts the study: at two sizes or more they differ by more than the margin between their
    intervals. One size may do so by chance."""
    expected = {estimate.size: estimate.gain for estimate in view.chosen if not estimate.setting.is_default}
    sizes = [
        fresh.size
        for fresh in (found.sizes if found is not None else ())
        if (gain := expected.get(fresh.size)) is not None
        and max(fresh.gain.low / gain.high, gain.low / fresh.gain.high) > 1 + margin
    ]
    if len(sizes) < 2:
        return ""
    return _(
        "{collective}, {nodes} × {ppn} ranks: at {sizes} the proof and the study differ by more than both "
        "intervals allow. The machine was in another state, or other programs used it: trust neither figure "
        "there until you have measured on a quiet machine."
    ).format(
        collective=view.case.collective,
        nodes=view.case.nodes,
        ppn=view.case.ppn,
        sizes=join(format_size(size) for size in sizes),
    )


def _failure(failure: Mapping[str, Any]) -> str:
    sentence = (
        _("A tuned launch on {nodes} × {ppn} ranks failed ({status}): {reason}")
        if failure["tuned"]
        else _("A default launch on {nodes} × {ppn} ranks failed ({status}): {reason}")
    )
    status = failure["status"]
    return sentence.format(
        nodes=failure["nodes"],
        ppn=failure["ppn"],
        status=_(status),
        reason=translated(failure["reason"]),
    )


def _verdict(found: Proven | None, gain: Interval, kept: bool) -> str:
    if found is not None and found.launches > 0:
        return words.verdict(found.verdict)
    return _("the default is kept") if kept else listed([words.verdict(verdict(gain)), _("in the study")])


def _note(decision: Decision, fresh: Mapping[Case, Proven]) -> str:
    meaning = _(
        "Geometric mean over message sizes of default / tuned with its {confidence:.0%} interval; right of 1× is "
        "faster. Grey band: the margin of {margin:.0%} within which the default is kept."
    ).format(confidence=decision.confidence, margin=decision.margin)
    launches = min((found.launches for found in fresh.values() if found.launches), default=0)
    if not launches:
        own = _("These figures come from the study's own launches; there is no proof on fresh launches.")
        return f"{meaning} {own}"
    fresh_ones = _(
        "Upper, filled marks: {launches} each of default and tuned, in turns. They were made after the decision, "
        "with the same files and options that a program gets. Lower, small marks: what the study expected."
    ).format(launches=count(launches, "fresh launch"))
    return f"{meaning} {fresh_ones}"
