"""When it happened: every launch in the order it ran, how it ended, and how the machine's speed drifted meanwhile."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

from unisono.core.language import N_, _, listed, translated
from unisono.core.vocabulary import EXACT, Setting
from unisono.report.axes import Figure, hover_frame, hover_lines, label, layout, line_across
from unisono.report.drift import drift
from unisono.report.text import count, format_duration, short_setting, significant
from unisono.study.data import LaunchRow, StudyData
from unisono.tuning.words import launch as launch_words

STATUS: dict[str, tuple[str, str]] = {
    N_("done"): ("@better-mid", ""),
    N_("refused"): ("@worse-mid", "diamond"),
    N_("crashed"): ("@worse", "x"),
    N_("hung"): ("@worse-deep", "square"),
    N_("wrong placement"): ("@series-5", "triangle-up"),
    N_("protocol"): ("@series-7", "star"),
    N_("interrupted"): ("@quiet", "cross"),
    N_("running"): ("@quiet", "circle"),
}
"""How a launch ended -> its colour, and the marker on top of its bar (short launches would be hard to see)."""

_ROW, _DRIFT, _GAP, _FRAME = 16, 170, 26, 66


def timeline(study: StudyData, statistic: str) -> Figure | None:
    """One bar a launch, one row a launch-scope setting; above, the drift. None without launches."""
    if not study.launches:
        return None
    ends = list(accumulate(row.seconds for row in study.launches))
    if ends[-1] < 180:
        title, scale = _("seconds of launches, in order"), 1.0
    elif ends[-1] < 7200:
        title, scale = _("minutes of launches, in order"), 60.0
    else:
        title, scale = _("hours of launches, in order"), 3600.0
    starts = {row.id: (end - row.seconds) / scale for row, end in zip(study.launches, ends, strict=True)}
    rows = sorted({row.setting for row in study.launches}, reverse=True)
    drawn = _DRIFT + _GAP + _ROW * len(rows)
    height = drawn + _FRAME
    data = [*_bars(study, starts, scale), *_drift(study, starts, scale, statistic)]
    axis = {"tickfont": {"size": 11, "color": "@quiet"}, "gridcolor": "@grid", "zeroline": False, "automargin": True}
    return {
        "data": data,
        "layout": layout(
            height,
            {},
            barmode="overlay",
            bargap=0.25,
            xaxis={
                **axis,
                "title": {"text": title, "font": {"size": 12, "color": "@quiet"}},
                "anchor": "y",
                "range": [0, ends[-1] / scale * 1.005 or 1],
            },
            yaxis={
                **axis,
                "type": "category",
                "categoryarray": [_name(s) for s in rows],
                "categoryorder": "array",
                "domain": [0, _ROW * len(rows) / drawn],
                "showgrid": False,
                "tickfont": {"size": 11, "color": "@text"},
            },
            yaxis2={
                **axis,
                "domain": [1 - _DRIFT / drawn, 1],
                "title": {"text": _("time / usual"), "font": {"size": 12, "color": "@quiet"}, "standoff": 14},
                "tickformat": "+.0%",
                "range": _reach(data),
            },
            shapes=[
                line_across(0, "y2"),
                *_rounds(study, starts, ends[-1] / scale),
            ],
        ),
    }


def _reach(data: list[dict[str, Any]]) -> list[float]:
    """Of the drift's axis: all of it, and at least 5 % either way."""
    values = [y for trace in data if trace.get("yaxis") == "y2" for y in trace["y"]]
    low, high = min([*values, -0.05]), max([*values, 0.05])
    pad = 0.06 * (high - low)
    return [significant(low - pad, 3), significant(high + pad, 3)]


def _name(setting: Setting) -> str:
    return label(short_setting(setting)) + " "


def _bars(study: StudyData, starts: dict[int, float], scale: float) -> list[dict[str, Any]]:
    data = []
    for status, (colour, marker) in STATUS.items():
        rows = [row for row in study.launches if row.status == status]
        if not rows:
            continue
        data.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": _(status),
                "y": [_name(row.setting) for row in rows],
                "base": [significant(starts[row.id]) for row in rows],
                "x": [significant(row.seconds / scale) for row in rows],
                "marker": {
                    "color": colour,
                    "line": {"width": 0},
                },
                "hovertext": [_text(row) for row in rows],
                "hovertemplate": hover_frame(_(status)),
            }
        )
        if marker:
            data.append(
                {
                    "type": "scatter",
                    "mode": "markers",
                    "x": [significant(starts[row.id] + row.seconds / scale / 2) for row in rows],
                    "y": [_name(row.setting) for row in rows],
                    "marker": {"color": colour, "size": 10, "symbol": marker, "line": {"color": "@page", "width": 1}},
                    "hoverinfo": "skip",
                }
            )
    return data


def _text(row: LaunchRow) -> str:
    lines = [
        _("launch {number}: {setting}").format(number=row.id, setting=launch_words(row.setting)),
        _("{nodes} x {ppn} ranks, simulated").format(nodes=row.nodes, ppn=row.ppn)
        if row.round == EXACT
        else _("{nodes} x {ppn} ranks, round {round}").format(nodes=row.nodes, ppn=row.ppn, round=row.round + 1),
        listed([_(row.status), format_duration(row.seconds)]),
        *([translated(row.reason)[:160]] if row.reason else []),
    ]
    return hover_lines(lines)


def _drift(study: StudyData, starts: dict[int, float], scale: float, statistic: str) -> list[dict[str, Any]]:
    lengths = {row.id: row.seconds / scale for row in study.launches}
    data = []
    for default_only, name, style in (
        (
            False,
            _("all settings"),
            {"mode": "markers", "marker": {"color": "@quiet/55", "size": 5, "symbol": "circle"}},
        ),
        (
            True,
            _("default"),
            {
                "mode": "lines+markers",
                "line": {"color": "@default", "width": 2, "dash": "dash"},
                "marker": {"color": "@default", "size": 7, "symbol": "circle-open"},
            },
        ),
    ):
        points = [d for d in drift(study, statistic, default_only=default_only) if d.launch in starts]
        data.append(
            {
                "type": "scatter",
                "name": name,
                "x": [significant(starts[d.launch] + lengths[d.launch] / 2) for d in points],
                "y": [significant(d.ratio - 1) for d in points],
                "yaxis": "y2",
                "hovertext": [
                    hover_lines(
                        [
                            _("launch {number}: {change:+.1%} against the usual time").format(
                                number=d.launch, change=d.ratio - 1
                            ),
                            _("over {timings}").format(timings=count(d.cells, "timing")),
                        ],
                    )
                    for d in points
                ],
                "hovertemplate": hover_frame(name),
                **style,
            }
        )
    return data


def _rounds(study: StudyData, starts: dict[int, float], end: float) -> list[dict[str, Any]]:
    """A hairline where each round begins, as far as rounds come in order."""
    first: dict[int, float] = {}
    for row in study.launches:
        first[row.round] = min(first.get(row.round, end), starts[row.id])
    return [
        {
            "type": "line",
            "xref": "x",
            "yref": "paper",
            "x0": x,
            "x1": x,
            "y0": 0,
            "y1": 1,
            "layer": "below",
            "line": {"color": "@line", "width": 1, "dash": "dot"},
        }
        for x in sorted(first.values())[1:]
    ]


def statuses(study: StudyData) -> list[tuple[str, str, int, float]]:
    """(status, colour role, launches, seconds), in the order of `STATUS`."""
    found = []
    for status, (colour, _marker) in STATUS.items():
        seconds = [row.seconds for row in study.launches if row.status == status]
        if seconds:
            found.append((status, colour, len(seconds), sum(seconds)))
    return found
