"""A fabric: every measured pair as a cell of a matrix, and the nodes as a tree of who is near to whom."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from unisono.core.language import _
from unisono.fabric.findings import Kind, shown
from unisono.fabric.measured import Fabric, Mode
from unisono.fabric.tree import Branch
from unisono.report.axes import Figure, hover_lines, label, layout

COLOURSCALE = [
    [0.0, "@better-deep"],
    [0.25, "@better-mid"],
    [0.5, "@neutral"],
    [0.75, "@worse-mid"],
    [1.0, "@worse-deep"],
]
UNDER_NUMBERS: list[tuple[float, str]] = [(0.0, "@better-mid"), (0.5, "@neutral"), (1.0, "@worse-mid")]
"""Where cells have numbers: no colour is so strong that the page's text could not be read on it."""
_SATURATED = 1.0
"""Colours are full at twice and at half of the usual time."""
_NUMBERS_MOST = 24
"""Nodes: cells of more have no room for numbers."""
_CELL, _SMALLEST, _WIDEST = 30, 220, 900
_TREE_ROW, _TREE_FRAME = 18, 60


def matrix(fabric: Fabric, kind: Kind, mode: Mode) -> Figure | None:
    """Times against the usual: darker orange is slower. `kind` is "latency" or "rate". None where not measured."""
    times = fabric.latency(mode) if kind == "latency" else fabric.large(mode)
    if not times.size:
        return None
    count = len(fabric.nodes)
    numbers = count <= _NUMBERS_MOST
    middle = np.median(times, axis=0)
    usual = float(np.median(middle))
    scale, _word = _unit(fabric, kind, usual)
    colours: list[list[float | None]] = [[None] * count for _ in range(count)]
    texts = [[""] * count for _ in range(count)]
    hover = [[""] * count for _ in range(count)]
    for (a, b), seconds in zip(fabric.pairs, middle.tolist(), strict=True):
        value = seconds if kind == "latency" else fabric.message / seconds
        said = shown(kind, value)
        for row, column in ((a, b), (b, a)):
            colours[row][column] = round(math.log2(seconds / usual), 3)
            texts[row][column] = f"{value / scale:.3g}" if numbers else ""
            hover[row][column] = hover_lines(
                [said, _("{ratio:.2f} times the usual time").format(ratio=seconds / usual)]
            )
    names = [label(name) for name in fabric.nodes]
    axis: dict[str, Any] = {"type": "category", "showgrid": False, "ticks": "", "automargin": True}
    return {
        "data": [
            {
                "type": "heatmap",
                "x": names,
                "y": names,
                "z": colours,
                "text": texts,
                "texttemplate": "%{text}",
                "textfont": {"size": 11, "color": "@text"},
                "hovertext": hover,
                "hovertemplate": "<b>%{y} - %{x}</b><br>%{hovertext}<extra></extra>",
                "hoverongaps": False,
                "colorscale": UNDER_NUMBERS if numbers else COLOURSCALE,
                "zmin": -_SATURATED,
                "zmax": _SATURATED,
                "xgap": 1,
                "ygap": 1,
                "showscale": False,
            }
        ],
        "layout": layout(
            min(_WIDEST, max(_SMALLEST, 60 + _CELL * count)),
            {"x": "", "y": ""},
            xaxis=axis,
            yaxis={**axis, "autorange": "reversed"},
        ),
    }


def unit(fabric: Fabric, kind: Kind, mode: Mode) -> str:
    """Of the numbers in all cells of a matrix that was measured."""
    times = fabric.latency(mode) if kind == "latency" else fabric.large(mode)
    return _unit(fabric, kind, float(np.median(times)))[1]


def _unit(fabric: Fabric, kind: Kind, usual: float) -> tuple[float, str]:
    """What cells are divided by, and its name: one for the whole matrix, which `usual` seconds decide."""
    if kind == "rate":
        return (1e9, "GB/s") if fabric.message / usual >= 1e9 else (1e6, "MB/s")
    return (1e-6, "us") if usual < 1e-3 else (1e-3, "ms")


def dendrogram(root: Branch, fabric: Fabric, slow: set[int]) -> Figure:
    """Leaves one below the other; each branch stands at the latency within which its nodes are."""
    order: list[int] = []
    lines: list[tuple[list[float], list[float]]] = []
    lowest = min(_heights(root))
    base = lowest / 2

    def place(branch: Branch) -> float:
        if not branch.branches:
            order.append(branch.nodes[0])
            return float(len(order) - 1)
        ends = [(part.seconds or base, place(part)) for part in branch.branches]
        for seconds, y in ends:
            lines.append(([seconds * 1e6, branch.seconds * 1e6], [y, y]))
        ys = [y for _seconds, y in ends]
        lines.append(([branch.seconds * 1e6] * 2, [min(ys), max(ys)]))
        return (min(ys) + max(ys)) / 2

    place(root)
    x: list[float | None] = []
    y: list[float | None] = []
    for xs, ys in lines:
        x += [*xs, None]
        y += [*ys, None]
    return {
        "data": [
            {
                "type": "scatter",
                "mode": "lines",
                "x": x,
                "y": y,
                "line": {"color": "@default", "width": 1.5},
                "hoverinfo": "skip",
            },
            *(
                {
                    "type": "scatter",
                    "mode": "markers",
                    "x": [base * 1e6 for node in order if (node in slow) == is_slow],
                    "y": [place for place, node in enumerate(order) if (node in slow) == is_slow],
                    "marker": {"color": colour, "symbol": symbol, "size": 8},
                    "hovertext": [label(fabric.nodes[node]) for node in order if (node in slow) == is_slow],
                    "hovertemplate": "%{hovertext}<extra></extra>",
                }
                for is_slow, colour, symbol in ((False, "@default", "circle"), (True, "@worse", "diamond"))
            ),
        ],
        "layout": layout(
            _TREE_FRAME + _TREE_ROW * len(order),
            {"x": "", "y": ""},
            xaxis={
                "type": "log",
                "title": {"text": _("us one way"), "font": {"size": 12, "color": "@quiet"}},
                "gridcolor": "@grid",
                "tickfont": {"size": 11, "color": "@quiet"},
                "zeroline": False,
                "automargin": True,
            },
            yaxis={
                "tickvals": list(range(len(order))),
                "ticktext": [label(fabric.nodes[node]) for node in order],
                "autorange": "reversed",
                "showgrid": False,
                "zeroline": False,
                "tickfont": {"size": 11, "color": "@text"},
                "automargin": True,
            },
        ),
    }


def _heights(branch: Branch) -> list[float]:
    return [branch.seconds, *(height for part in branch.branches if part.branches for height in _heights(part))]
