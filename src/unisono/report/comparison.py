"""The values of a comparison's page: what differs between studies of other boot settings, versions or machines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unisono.core.language import N_, _, translated
from unisono.core.sizes import format_size
from unisono.core.vocabulary import Case
from unisono.decide import differs
from unisono.decide.compare import Comparison
from unisono.decide.differs import mean_gain
from unisono.decide.sides import KINDS, Row
from unisono.report.axes import zoom_groups
from unisono.report.conditions import mpi_name
from unisono.report.figures_comparison import comparison_figure, rows_of
from unisono.report.figures_history import history
from unisono.report.finding_list import finding_groups
from unisono.report.marks import RatioScale, interval_mark, kind, ratio_axis
from unisono.report.text import count, format_duration, format_interval, format_ratio, format_time, join, short_setting
from unisono.study.data import StudyData

_OWN = ("", N_("study"), N_("created"), N_("launches"), N_("measured in"))
"""What differs between any two studies."""


def content(comparison: Comparison, studies: Sequence[StudyData]) -> dict[str, Any]:
    """Every value of the template; `studies` in the order they were compared, the reference first."""
    cases = list(rows_of(comparison))
    mpis = {mpi_name(study.machine.mpi) for study in studies}
    over_time = len(studies) > 2 and len(mpis) < len(studies)
    past = history(comparison, studies) if over_time else None
    sizes = {case: tuple(sorted({r.size for r in comparison.rows if r.case == case})) for case in cases}
    return {
        "title": headline(comparison),
        "best": _sentence(comparison, comparison.others[0], "best") if len(comparison.others) == 1 else "",
        "others": [
            {
                "label": other,
                "differences": [translated(said) for said in comparison.differences.get(other, ())],
                "sentence": _sentence(comparison, other, "default"),
                "best": _sentence(comparison, other, "best"),
            }
            for other in comparison.others
        ],
        "reference": comparison.reference,
        "studies": study_table([comparison.reference, *comparison.others], studies),
        "forest": forest(comparison),
        "history": past.panels if past else [],
        "history_keys": past.keys if past else [],
        "fastest": fastest_table(comparison),
        "findings": finding_groups(comparison.findings, sizes),
        "cases": [_case(comparison, case, sizes[case]) for case in cases],
        "notes": [translated(note) for note in comparison.notes],
        "margin": f"{comparison.margin:.0%}",
        "confidence": f"{comparison.confidence:.0%}",
        "provenance": [(study.name, f"{study.id}, {study.created}") for study in studies],
    }


def case_verdict(comparison: Comparison, case: Case, other: str, compared: str) -> str:
    """A word of `differs`, of one case."""
    kinds = {f.kind for f in comparison.findings if (f.case, f.value, f.parameter) == (case, other, compared)}
    return differs.of_case(kinds, rows_of(comparison)[case][other, compared])


def headline(comparison: Comparison) -> str:
    """The default of the one other study against the reference's; of several, a verdict each."""
    if len(comparison.others) == 1:
        return _sentence(comparison, comparison.others[0], "default")
    verdicts = [_said(comparison, other).format(other=other) for other in comparison.others]
    return _("Against {reference}, by default: {verdicts}.").format(
        reference=comparison.reference, verdicts=join(verdicts)
    )


def _said(comparison: Comparison, other: str) -> str:
    said = {
        "mixed": _("{other} is partly faster, partly slower"),
        "faster": _("{other} is faster"),
        "slower": _("{other} is slower"),
        differs.FASTER_AT_SOME: _("{other} is faster at some message sizes"),
        differs.SLOWER_AT_SOME: _("{other} is slower at some message sizes"),
        "not told": _("{other} had too few launches to tell"),
    }
    return said.get(comparison.verdict(other), _("{other} makes no difference"))


def _sentence(comparison: Comparison, other: str, compared: str) -> str:
    """ "NPS4 against NPS1, by default: allreduce 1.12× (1.08–1.16) as fast; no difference for alltoall."."""
    by_verdict: dict[str, list[str]] = {}
    several = len({(row.case.nodes, row.case.ppn) for row in comparison.rows}) > 1
    for case, found in rows_of(comparison).items():
        rows = found.get((other, compared))
        if not rows:
            continue
        verdict = case_verdict(comparison, case, other, compared)
        name = case.collective
        if several:
            name = _("{name} on {cores}").format(name=name, cores=f"{case.nodes} × {case.ppn}")
        gain = mean_gain(rows)
        name = _alone(name, rows)
        strength = f"{name} {format_ratio(gain.mid)} ({format_interval(gain)})"
        by_verdict.setdefault(verdict, []).append(strength if verdict in ("faster", "slower") else name)
    parts = []
    for verdict in ("faster", "slower"):
        if those := by_verdict.get(verdict):
            parts.append(_("{those} as fast").format(those=join(those)))
    if faster := by_verdict.get(differs.FASTER_AT_SOME):
        parts.append(_("{those} faster at some sizes").format(those=join(faster)))
    if slower := by_verdict.get(differs.SLOWER_AT_SOME):
        parts.append(_("{those} slower at some sizes").format(those=join(slower)))
    if mixed := by_verdict.get("mixed"):
        parts.append(_("{those} faster at some sizes and slower at others").format(those=join(mixed)))
    if same := by_verdict.get("no difference"):
        parts.append(_("no difference for {those}").format(those=join(same)))
    if untold := by_verdict.get("not told"):
        parts.append(_("too few launches to tell for {those}").format(those=join(untold)))
    sentence = (
        _("{other} against {reference}, by default: {parts}.")
        if compared == "default"
        else _("{other} against {reference}, each at its best: {parts}.")
    )
    return sentence.format(other=other, reference=comparison.reference, parts="; ".join(parts))


def _alone(name: str, rows: Sequence[Row]) -> str:
    """Said of a ratio that rests on one message size."""
    return _("{name} at {size} alone").format(name=name, size=format_size(rows[0].size)) if len(rows) == 1 else name


def forest(comparison: Comparison) -> dict[str, Any]:
    """One row a case and other study: default against default, and best against best below it."""
    means = {
        (case, *key): mean_gain(rows) for case, found in rows_of(comparison).items() for key, rows in found.items()
    }
    scale = RatioScale.over(means.values(), width=460)
    rows = []
    for case, found in rows_of(comparison).items():
        for other in comparison.others:
            gains = {compared: means.get((case, other, compared)) for compared in KINDS}
            default, best = gains["default"], gains["best"]
            if default is None:
                continue
            rows.append(
                {
                    "label": case.collective,
                    "ranks": _alone(
                        _("{nodes} × {ppn} ranks").format(nodes=case.nodes, ppn=case.ppn), found[other, KINDS[0]]
                    ),
                    "other": other if len(comparison.others) > 1 else "",
                    "mark": interval_mark(scale, default, comparison.margin, second=best),
                    "default": default,
                    "best": best,
                    "verdict": _(case_verdict(comparison, case, other, "default")),
                    "css": kind(default),
                }
            )
    return {"axis": ratio_axis(scale), "rows": rows}


def fastest_table(comparison: Comparison) -> list[dict[str, Any]]:
    """A row a stretch of message sizes with one answer, by default and each at its best; the case once."""
    rows: list[dict[str, Any]] = []
    before = None
    for found in comparison.fastest:
        rows.append(
            {
                "case": translated(str(found.case)) if found.case != before else "",
                "sizes": found.sizes,
                "compared": _("default") if found.kind == KINDS[0] else _("best"),
                "labels": ", ".join(found.labels),
                "ahead": found.over_next,
            }
        )
        before = found.case
    return rows


def study_table(labels: Sequence[str], studies: Sequence[StudyData]) -> list[tuple[str, list[str], bool]]:
    """(what, its value in every study, whether they differ); what is known of none is left out."""
    rows: list[tuple[str, list[str]]] = [
        ("", list(labels)),
        (N_("study"), [study.name for study in studies]),
        (N_("created"), [study.created[:16].replace("T", " ") for study in studies]),
        (N_("machine"), [study.machine.name for study in studies]),
        (N_("processor"), [study.machine.cpu_model for study in studies]),
        (N_("cores"), [str(study.machine.cores) for study in studies]),
        (N_("NUMA nodes a socket (NPS)"), [str(study.machine.numa_per_socket) for study in studies]),
        (N_("hardware threads a core"), [str(study.machine.smt) for study in studies]),
        (N_("governor"), [study.machine.governor or "" for study in studies]),
        (N_("kernel"), [study.machine.kernel for study in studies]),
        ("MPI", [mpi_name(study.machine.mpi) for study in studies]),
        ("UCX", [study.machine.ucx.version if study.machine.ucx else "" for study in studies]),
        (N_("method"), [study.method for study in studies]),
        (N_("launches"), [count(len(study.launches), "launch") for study in studies]),
        (N_("measured in"), [format_duration(sum(row.seconds for row in study.launches)) for study in studies]),
        (
            N_("oversubscribed"),
            [_("yes") if any(r.oversubscribed for r in study.launches) else _("no") for study in studies],
        ),
    ]
    return [
        (_(name) if name else "", values, name not in _OWN and len(set(values)) > 1)
        for name, values in rows
        if any(values)
    ]


def _case(comparison: Comparison, case: Case, sizes: Sequence[int]) -> dict[str, Any]:
    figure, legend = comparison_figure(comparison, case)
    rows = sorted((r for r in comparison.rows if r.case == case), key=lambda r: (r.size, r.other, r.kind != "default"))
    return {
        "name": translated(str(case)),
        "id": f"case-{case.collective}-{case.nodes}x{case.ppn}",
        "zooms": zoom_groups(sizes),
        "figure": figure,
        "legend": legend,
        "numbers": [
            {
                "size": format_size(row.size),
                "other": row.other,
                "kind": _("default") if row.kind == "default" else _("best"),
                "reference_setting": short_setting(row.reference_setting),
                "setting": short_setting(row.setting),
                "reference_time": format_time(row.reference_time),
                "time": format_time(row.time),
                "gain": row.gain,
                "significant": row.significant,
            }
            for row in rows
        ],
    }
