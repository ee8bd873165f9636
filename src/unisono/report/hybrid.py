"""The values of a hybrid study's page: which layout is fastest, how sure that is, where the time goes, the drift."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from unisono.hybrid.decide import DRIFT, Decision, Rank
from unisono.hybrid.run import Result
from unisono.hybrid.study import HybridStudy
from unisono.report import conditions
from unisono.report.axes import Figure, label, layout
from unisono.report.marks import RatioScale, interval_mark, ratio_axis
from unisono.report.page import render
from unisono.report.palette import SERIES
from unisono.report.text import count, format_duration, format_time
from unisono.study.data import StudyData
from unisono.writing import write

_PARTS = {
    "computing": ("computing", "@series-8"),
    "halo_pack": ("packing the halo", "@series-6"),
    "halo_exchange": ("exchanging the halo", "@series-3"),
    "allreduce": ("allreduce, and waiting in it", "@series-5"),
}
_ROW = 30
_MARGIN = 0.03


def write_hybrid_report(study: HybridStudy, path: Path) -> Path:
    """Write the page to `path` and return it. Raises UserError when the file cannot be written."""
    return write(path, render("hybrid.html.j2", content(study.data, study.decision, study.results)))


def content(study: StudyData, decision: Decision, results: Sequence[Result]) -> dict[str, Any]:
    """Every value of the template."""
    scale = RatioScale.over([rank.gain for rank in decision.ranks], width=420)
    several = len({rank.variant.nodes for rank in decision.ranks}) > 1
    first, _, rest = decision.conclusion.partition(". ")
    names = sorted({result.variant.name for result in results})
    return {
        "title": f"{first.rstrip('.')}.",
        "conclusion": rest,
        "study": study,
        "reference": decision.reference.name,
        "axis": ratio_axis(scale),
        "rows": [
            {
                "name": _name(rank, several),
                "seconds": format_time(rank.seconds),
                "gflops": f"{rank.gflops:.2f}" if rank.gflops else "-",
                "speedup": f"{rank.speedup:.2f}" if rank.speedup else "-",
                "mark": interval_mark(scale, rank.gain, _MARGIN),
                "gain": rank.gain,
                "launches": rank.launches,
                "is_reference": rank.variant == decision.reference,
            }
            for rank in decision.ranks
        ],
        "reasons": [rank.why for rank in decision.ranks if rank.why],
        "parts": _parts(decision, several) if decision.ranks[0].parts else None,
        "keys": [
            {"name": name, "colour": colour, "dash": "solid", "marker": "square"} for name, colour in _PARTS.values()
        ],
        "drift": _drift(results) if decision.drift is not None else None,
        "drift_keys": [
            {"name": name, "colour": _colour(i), "dash": "solid", "marker": "circle"} for i, name in enumerate(names)
        ],
        "drift_sentence": _drift_sentence(decision),
        "notes": study.notes,
        "machine": conditions.machine_facts(study.machine),
        "provenance": [
            ("study", f"{study.name}, {study.id}"),
            ("begun", study.created[:16].replace("T", " ") + " UTC"),
            ("launches", count(len(study.launches), "launch")),
            ("measured in", format_duration(sum(row.seconds for row in study.launches))),
        ],
        "commands": list(dict.fromkeys(row.command for row in study.launches)),
    }


def _name(rank: Rank, several: bool) -> str:
    return f"{rank.variant.name} on {count(rank.variant.nodes, 'node')}" if several else rank.variant.name


def _parts(decision: Decision, several: bool) -> Figure:
    """One bar a layout, best at the top, its seconds by part."""
    ranks = list(reversed(decision.ranks))
    names = [label(_name(rank, several)) for rank in ranks]
    data = [
        {
            "type": "bar",
            "orientation": "h",
            "name": words,
            "x": [round(rank.parts[part], 6) for rank in ranks],
            "y": names,
            "marker": {"color": colour},
            "hovertemplate": f"<b>%{{y}}</b><br>{words}: %{{x:.4g}} s<extra></extra>",
        }
        for part, (words, colour) in _PARTS.items()
    ]
    quiet = {"tickfont": {"size": 11, "color": "@quiet"}, "gridcolor": "@grid", "zeroline": False, "automargin": True}
    title = {"text": "seconds, mean over processes", "font": {"size": 12, "color": "@quiet"}}
    return {
        "data": data,
        "layout": layout(
            _ROW * len(ranks) + 70,
            {},
            barmode="stack",
            bargap=0.35,
            xaxis={**quiet, "title": title},
            yaxis={**quiet, "type": "category", "tickfont": {"size": 11, "color": "@text"}},
        ),
    }


def _drift(results: Sequence[Result]) -> Figure:
    """Every launch's memory bandwidth over what its layout usually has, in the order they ran."""
    shown: dict[str, tuple[list[int], list[float]]] = {}
    usual: dict[str, float] = {}
    for name in {result.variant.name for result in results}:
        usual[name] = statistics.median(_triad(r) for r in results if r.variant.name == name)
    for number, result in enumerate(results, start=1):
        x, y = shown.setdefault(result.variant.name, ([], []))
        x.append(number)
        y.append(round(_triad(result) / usual[result.variant.name], 4))
    data = [
        {
            "type": "scatter",
            "mode": "markers",
            "name": label(name),
            "x": x,
            "y": y,
            "marker": {"color": _colour(i), "size": 7},
            "hovertemplate": f"<b>{label(name)}</b><br>launch %{{x}}: %{{y:.2f}} of the usual<extra></extra>",
        }
        for i, (name, (x, y)) in enumerate(sorted(shown.items()))
    ]
    quiet = {"tickfont": {"size": 11, "color": "@quiet"}, "gridcolor": "@grid", "zeroline": False, "automargin": True}
    return {
        "data": data,
        "layout": layout(
            220,
            {},
            xaxis={**quiet, "title": {"text": "launch", "font": {"size": 12, "color": "@quiet"}}},
            yaxis={**quiet, "title": {"text": "bandwidth / usual", "font": {"size": 12, "color": "@quiet"}}},
        ),
    }


def _colour(index: int) -> str:
    return SERIES[index % len(SERIES)]


def _triad(result: Result) -> float:
    return max(float(result.answer["triad_before"]), float(result.answer["triad_after"]))


def _drift_sentence(decision: Decision) -> str:
    if decision.drift is None:
        return "The program does not measure the memory's bandwidth, so whether it drifted is not known."
    verdict = "too much for a conclusion" if not decision.concluded else "little enough for a conclusion"
    return f"Rounds differ by a factor of {decision.drift:.2f} at most: {verdict} (the limit is {DRIFT})."
