"""What the hardware can do at best, measured in the study's own launches, and how near the settings come."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unisono.core.language import _
from unisono.core.sizes import format_size
from unisono.decide.decision import Estimate
from unisono.measure.protocol import Limits, Rate
from unisono.report.axes import (
    Figure,
    hover_frame,
    hover_lines,
    label,
    layout,
    limit_across,
    ratio,
    size_axis,
    size_position,
    value_axis,
)
from unisono.report.envelope import curve_name
from unisono.report.palette import MARKERS, SERIES
from unisono.report.text import format_ratio, format_time, significant
from unisono.report.view import CaseView, bound_of


def core_latency(limits: Limits) -> Figure | None:
    """Nanoseconds one way between the ranks' cores: of every two when all were tried, else from rank 0 to the others.

    None for fewer than three ranks, where a number says it all.
    """
    pairs = limits.pairs
    ranks = sorted({rank for a, b, _ in pairs for rank in (a, b)})
    if len(ranks) < 3:
        return None
    complete = len(pairs) >= len(ranks) * (len(ranks) - 1) // 2
    return _matrix(pairs, ranks) if complete else _from_first(pairs, ranks[0])


def _matrix(pairs: Sequence[tuple[int, int, float]], ranks: Sequence[int]) -> Figure:
    place = {rank: i for i, rank in enumerate(ranks)}
    z: list[list[float | None]] = [[None] * len(ranks) for _ in ranks]
    for a, b, ns in pairs:
        z[place[a]][place[b]] = z[place[b]][place[a]] = significant(ns, 3)
    axis = {
        "tickfont": {"size": 11, "color": "@quiet"},
        "showgrid": False,
        "zeroline": False,
        "ticks": "",
        "constrain": "domain",
        "dtick": 1,
    }
    return {
        "data": [
            {
                "type": "heatmap",
                "x": list(ranks),
                "y": list(ranks),
                "z": z,
                "colorscale": [[0.0, "@neutral"], [0.5, "@better-mid"], [1.0, "@better-deep"]],
                "texttemplate": "%{z}",
                "textfont": {"size": 11},
                "hovertemplate": _("rank {a} – rank {b}<br>{time} one way").format(a="%{y}", b="%{x}", time="%{z} ns")
                + "<extra></extra>",
                "hoverongaps": False,
                "showscale": False,
                "xgap": 1,
                "ygap": 1,
            }
        ],
        "layout": layout(
            340,
            {},
            xaxis={**axis, "title": {"text": _("rank (ns)"), "font": {"size": 12, "color": "@quiet"}}},
            yaxis={**axis, "autorange": "reversed", "scaleanchor": "x"},
        ),
    }


def _from_first(pairs: Sequence[tuple[int, int, float]], first: int) -> Figure:
    """Steps show where caches, NUMA nodes and sockets end."""
    others = sorted((b, ns) for a, b, ns in pairs if a == first)
    return {
        "data": [
            {
                "type": "scatter",
                "mode": "markers",
                "x": [rank for rank, _ in others],
                "y": [significant(ns, 3) for _, ns in others],
                "marker": {"color": "@chosen", "size": 5},
                "hovertemplate": _("rank {a} – rank {b}<br>{time} one way").format(a=first, b="%{x}", time="%{y} ns")
                + "<extra></extra>",
            }
        ],
        "layout": layout(
            340,
            {},
            xaxis=value_axis(_("rank, from rank {first}").format(first=first), type="linear"),
            yaxis=value_axis("ns", type="linear", rangemode="tozero"),
        ),
    }


def bandwidth(rates: Sequence[Rate], one: str, every: str, own: str = "") -> Figure | None:
    """GB/s over the size; `one` and `every` say who moves data: a single rank (or pair), all together; `own`: all, each
    within its own memory."""
    ordered = sorted(rates, key=lambda rate: rate.bytes)
    if not ordered:
        return None
    sizes = [rate.bytes for rate in ordered]
    data = []
    series: list[tuple[str, list[float], str, str, str]] = [
        (one, [rate.gbps_one for rate in ordered], "@chosen", "solid", "circle"),
        (every, [rate.gbps_all for rate in ordered], "@limit", "dash", "square"),
    ]
    alone = [rate.gbps_own for rate in ordered if rate.gbps_own]
    if own and len(alone) == len(ordered):
        series.append((own, alone, "@series-2", "dot", "diamond"))
    for name, values, colour, dash, marker in series:
        data.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": name,
                "x": [size_position(s, sizes) for s in sizes],
                "y": [ratio(value) for value in values],
                "line": {"color": colour, "width": 2, "dash": dash},
                "marker": {"color": colour, "size": 6, "symbol": marker},
                "hovertext": [
                    hover_lines([format_size(s), f"{v:.3g} GB/s"]) for s, v in zip(sizes, values, strict=True)
                ],
                "hovertemplate": hover_frame(name),
            }
        )
    title = {"text": _("bytes at a time"), "font": {"size": 12, "color": "@quiet"}}
    return {
        "data": data,
        "layout": layout(
            370,
            {"x": "size"},
            sizes,
            margin={"l": 56, "r": 16, "t": 56, "b": 44},
            showlegend=True,
            legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
            xaxis=size_axis(sizes, title=title),
            yaxis=value_axis("GB/s", type="linear", rangemode="tozero"),
        ),
    }


def distance(views: Sequence[CaseView]) -> tuple[Figure, list[tuple[str, str, str]]] | None:
    """Time over the physical limit, per collective: what the chosen setting (solid) and the default (dashed) leave.

    Also the legend: (collective, colour role, marker). None when no limit is known.
    """
    known = [view for view in views if view.floors]
    if not known:
        return None
    data: list[dict[str, Any]] = []
    legend = []
    sizes = sorted({s for view in known for s in view.sizes})
    for number, view in enumerate(known):
        colour, marker = SERIES[number % len(SERIES)], MARKERS[number % len(MARKERS)]
        legend.append((view.case.collective, colour, marker))
        for is_chosen, estimates, dash, width in (
            (False, view.default, "dash", 1.25),
            (True, [] if view.keeps_default else view.chosen, "solid", 2.25),
        ):
            points = [e for e in estimates if view.floors.get(e.size, 0) > 0]
            if points:
                data.append(_distance_curve(view, is_chosen, points, colour, dash, width, marker, sizes))
    return {
        "data": data,
        "layout": layout(
            340,
            {"x": "size", "y": "gain"},
            sizes,
            xaxis=size_axis(sizes),
            yaxis=value_axis(_("time / {bound}").format(bound=_(bound_of(known)))),
            shapes=[{**limit_across(1), "layer": "above"}],
        ),
    }, legend


def _distance_curve(
    view: CaseView,
    is_chosen: bool,
    points: Sequence[Estimate],
    colour: str,
    dash: str,
    width: float,
    marker: str,
    sizes: Sequence[int],
) -> dict[str, Any]:
    name = curve_name(view.case.collective, is_chosen)
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": label(name),
        "x": [size_position(e.size, sizes) for e in points],
        "y": [ratio(e.time.mid / view.floors[e.size]) for e in points],
        "line": {"color": colour, "width": width, "dash": dash},
        "marker": {
            "color": colour,
            "size": 6 if is_chosen else 4,
            "symbol": marker + ("" if is_chosen else "-open"),
        },
        "hovertext": [
            hover_lines(
                [
                    format_size(e.size),
                    _("{time} against {limit}").format(
                        time=format_time(e.time.mid), limit=format_time(view.floors[e.size])
                    ),
                    _("{ratio} the limit").format(ratio=format_ratio(e.time.mid / view.floors[e.size])),
                ],
            )
            for e in points
        ],
        "hovertemplate": hover_frame(name),
    }
