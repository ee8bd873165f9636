"""Many studies in the order they were begun: how each case moved against the first, a line a case."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from unisono.core.interval import Interval
from unisono.core.language import N_, _, translated
from unisono.decide.compare import Comparison
from unisono.decide.differs import mean_gain
from unisono.report.axes import (
    Figure,
    hover_frame,
    hover_lines,
    label,
    layout,
    ratio,
    same_gain_band,
    value_axis,
)
from unisono.report.figures_comparison import rows_of
from unisono.report.palette import DASHES, MARKERS, SERIES
from unisono.report.text import format_gain, significant
from unisono.study.data import StudyData

_NAMES = {"default": N_("By default"), "best": N_("Each at its best")}
_TICKS, _LETTERS = 6, 18
"""At most so many studies are named below a chart, in lines so long."""
_ITSELF = Interval(1.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True)
class History:
    panels: list[tuple[str, Figure]]
    """What is compared, and the figure."""
    keys: list[dict[str, str]]
    """An entry a case: name, colour, dash, marker."""


def history(comparison: Comparison, studies: Sequence[StudyData]) -> History:
    """`studies` in the order they were compared, the reference first; drawn in the order of their dates."""
    labels = [comparison.reference, *comparison.others]
    order = sorted(range(len(studies)), key=lambda i: studies[i].created)
    cases = rows_of(comparison)
    keys = [
        {
            "name": translated(str(case)),
            "colour": SERIES[i % len(SERIES)],
            "dash": DASHES[i // len(SERIES) % len(DASHES)],
            "marker": MARKERS[i % len(MARKERS)],
        }
        for i, case in enumerate(cases)
    ]
    panels = []
    for kind, title in _NAMES.items():
        data = []
        for found, key in zip(cases.values(), keys, strict=True):
            points = []
            for i in order:
                rows = found.get((labels[i], kind))
                gain = _ITSELF if i == 0 else mean_gain(rows) if rows else None
                if gain is not None:
                    points.append((order.index(i), labels[i], studies[i].created[:16].replace("T", " "), gain))
            data.append(_line(key, points))
        panels.append((_(title), {"data": data, "layout": _layout(comparison, [labels[i] for i in order])}))
    return History(panels, keys)


def _line(key: dict[str, str], points: Sequence[tuple[int, str, str, Interval]]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": label(key["name"]),
        "x": [place for place, *_ in points],
        "y": [ratio(gain.mid) for *_, gain in points],
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [_reach(gain.high - gain.mid) for *_, gain in points],
            "arrayminus": [_reach(gain.mid - gain.low) for *_, gain in points],
            "color": key["colour"],
            "thickness": 1,
            "width": 3,
        },
        "line": {"color": key["colour"], "width": 2, "dash": key["dash"]},
        "marker": {"color": key["colour"], "size": 7, "symbol": key["marker"]},
        "hovertext": [hover_lines([name, date, format_gain(gain)]) for _, name, date, gain in points],
        "hovertemplate": hover_frame(key["name"]),
    }


def _tick(name: str) -> str:
    """A line a property."""
    lines = (label(part if len(part) <= _LETTERS else part[: _LETTERS - 1] + "…") for part in name.split(", "))
    return "<br>".join(lines)


def _reach(length: float) -> float | None:
    """Of an error bar; none where an end is not known."""
    return significant(length) if 0 < length < math.inf else None


def _layout(comparison: Comparison, names: Sequence[str]) -> dict[str, Any]:
    named = range(0, len(names), math.ceil(len(names) / _TICKS))
    return layout(
        340,
        {},
        xaxis={
            "tickvals": list(named),
            "ticktext": [_tick(names[i]) for i in named],
            "tickfont": {"size": 11, "color": "@quiet"},
            "tickangle": 0,
            "gridcolor": "@grid",
            "zeroline": False,
            "automargin": True,
            "range": [-0.3, len(names) - 0.7],
        },
        yaxis=value_axis(_("times as fast as the first named"), ticksuffix="×"),
        shapes=same_gain_band(comparison.margin),
    )
