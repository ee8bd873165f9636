"""What the figures share: axes over message size, time and gain, size groups, hover texts, rounding.

A figure is Plotly JSON ({"data", "layout"}). Colours are roles (palette.py). `layout.meta` tells the page what each
axis counts ("size", "time", "gain"), so that it can put readable ticks at every zoom, and which sizes were measured:
the ticks of a size axis. Times are in microseconds.

Three additions keep large studies small; the page resolves them: a trace with `like: i` takes what it lacks from trace
i; newlines in hover texts are line breaks; a figure with `views` has, a view, {"y": one list a trace, "layout": what
changes, "error": its error bars}.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from unisono.core.interval import Interval
from unisono.core.language import N_, _
from unisono.core.sizes import format_size
from unisono.report.text import format_range, significant

Figure = dict[str, Any]

SIZE_GROUPS: tuple[tuple[str, int, int | None], ...] = (
    (N_("small"), 0, 1 << 10),
    (N_("medium"), 1 << 10, 64 << 10),
    (N_("medium large"), 64 << 10, 1 << 20),
    (N_("large"), 1 << 20, None),
)
"""Name, first and last message size in bytes: the groups of Oracle's tuning guide. Neighbours share their border."""

_MICRO = 1e6


def size_position(size: int, sizes: Sequence[int]) -> float:
    """Where a message size is drawn on the logarithmic axis: 0 bytes half a step below the smallest other."""
    return float(size) if size > 0 else zero_position(sizes)


def zero_position(sizes: Sequence[int]) -> float:
    return min((s for s in sizes if s > 0), default=1) / 2


def microseconds(seconds: float) -> float | None:
    """For the time axis; None (a gap) for what a logarithmic axis cannot show."""
    return significant(seconds * _MICRO) if seconds > 0 and math.isfinite(seconds) else None


def ratio(value: float) -> float | None:
    return significant(value) if value > 0 and math.isfinite(value) else None


def label(text: str) -> str:
    """Plotly reads a little HTML in every text it draws: whatever comes from outside goes through here."""
    return html.escape(text, quote=False)


def hover_lines(lines: Iterable[str]) -> str:
    """What is shown for one point. The page makes line breaks of the newlines, which are shorter to inline."""
    return "\n".join(map(label, lines))


def hover_frame(name: str, *lines: str, text: str = "%{hovertext}") -> str:
    """The hover template of a trace: its name, what holds for all its points, then the point's own text."""
    return "<br>".join([f"<b>{label(name)}</b>", *map(label, lines), text]) + "<extra></extra>"


def band(x: Sequence[float], intervals: Sequence[Interval], colour: str, opacity: int, *, time: bool) -> Figure | None:
    """The interval of a curve as one closed area, rounded outwards; None when no point has a finite interval."""
    scale = _MICRO if time else 1.0
    known = [
        (p, _rounded(i.low * scale, math.floor), _rounded(i.high * scale, math.ceil))
        for p, i in zip(x, intervals, strict=True)
        if i.low > 0 and math.isfinite(i.high)
    ]
    if not known:
        return None
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [p for p, _, _ in known] + [p for p, _, _ in reversed(known)],
        "y": [low for _, low, _ in known] + [high for _, _, high in reversed(known)],
        "fill": "toself",
        "fillcolor": f"{colour}/{opacity}",
        "line": {"width": 0, "color": colour},
        "hoverinfo": "skip",
    }


def _rounded(value: float, way: Callable[[float], int]) -> float:
    """To three digits: finer than a pixel, and less to carry than four."""
    step = math.floor(math.log10(value)) - 2
    return float(f"{way(value / 10.0**step)}e{step}")


def size_axis(sizes: Sequence[int], **more: Any) -> dict[str, Any]:
    positions = [size_position(s, sizes) for s in sizes] or [1.0]
    low, high = math.log10(min(positions)), math.log10(max(positions))
    margin = max(0.03 * (high - low), 0.12)
    return {**_axis(_("message size")), "type": "log", "tickangle": 0, "range": [low - margin, high + margin], **more}


def value_axis(title: str, **more: Any) -> dict[str, Any]:
    return {**_axis(title), "type": "log", **more}


def _axis(title: str) -> dict[str, Any]:
    return {
        "title": {"text": title, "font": {"size": 12, "color": "@quiet"}, "standoff": 8},
        "gridcolor": "@grid",
        "zeroline": False,
        "linecolor": "@line",
        "ticks": "outside",
        "ticklen": 4,
        "tickcolor": "@line",
        "tickfont": {"size": 11, "color": "@quiet"},
        "automargin": True,
    }


def layout(height: int, axes: Mapping[str, str], sizes: Sequence[int] = (), **more: Any) -> dict[str, Any]:
    """`axes` maps the axis ("x", "y", "y2") to what it counts: "size", "time", "gain", or "" to leave it alone. The
    page's script reads `xaxis` and `yaxis` of every figure: plain ones where `more` has none."""
    meta: dict[str, Any] = {"axes": dict(axes)}
    if "size" in axes.values():
        meta["sizes"] = [[size_position(size, sizes), format_size(size) if size else "0"] for size in sorted({*sizes})]
    return {
        "height": height,
        "margin": {"l": 56, "r": 16, "t": 10, "b": 44},
        "paper_bgcolor": "@page/0",
        "plot_bgcolor": "@page/0",
        "font": {"family": "system-ui, sans-serif", "size": 12, "color": "@text"},
        "hoverlabel": {
            "bgcolor": "@panel",
            "bordercolor": "@line",
            "font": {"color": "@text", "size": 12},
            "align": "left",
        },
        "hovermode": "closest",
        "showlegend": False,
        "meta": meta,
        "xaxis": _axis(""),
        "yaxis": _axis(""),
        **more,
    }


def line_across(y: float, yref: str = "y", xref: str = "x") -> dict[str, Any]:
    """What curves are compared with, behind them."""
    span = {"xref": f"{xref} domain", "yref": yref, "x0": 0, "x1": 1, "layer": "below"}
    return {"type": "line", **span, "y0": y, "y1": y, "line": {"color": "@default/60", "width": 1}}


def limit_across(y: float) -> dict[str, Any]:
    """What no curve can be better than."""
    return {**line_across(y), "line": {"color": "@limit", "width": 2, "dash": "dot"}}


def same_gain_band(margin: float, yref: str = "y", xref: str = "x") -> list[dict[str, Any]]:
    """The line of no gain, and the margin around it within which the default is kept."""
    line = line_across(1, yref, xref)
    ends = {"y0": 1 / (1 + margin), "y1": 1 + margin}
    return [{**line, "type": "rect", **ends, "fillcolor": "@default/8", "line": {"width": 0}}, line]


def zoom_groups(sizes: Sequence[int]) -> list[dict[str, Any]]:
    """The zoom buttons of a case: name, range on the logarithmic axis (None for all), and whether it has sizes."""
    groups: list[dict[str, Any]] = [{"name": _("all"), "range": None, "enabled": True, "title": _("all sizes")}]
    for name, first, last in SIZE_GROUPS:
        inside = [size_position(s, sizes) for s in sizes if s >= first and (last is None or s <= last)]
        enabled = len(inside) > 1
        low, high = (math.log10(min(inside)), math.log10(max(inside))) if enabled else (0.0, 1.0)
        pad = 0.04 * (high - low)
        limits = [round(low - pad, 3), round(high + pad, 3)]
        groups.append({"name": _(name), "range": limits, "enabled": enabled, "title": format_range(first, last)})
    return groups
