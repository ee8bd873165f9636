"""Small charts as SVG in the page: bars in a row, points and lines; no script, hover titles by the browser.

A page of a few bars does not carry a chart library for them. The figure is the same Plotly JSON that a large chart
is (axes.py), of which this draws: horizontal stacked bars; scatter with lines, dashes and markers; linear,
logarithmic and category axes; horizontal reference lines.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup
from rich.cells import cell_len

from unisono.report.axes import Figure
from unisono.report.marks import DASHES, shape

_LEFT, _RIGHT, _TOP, _BOTTOM = 52.0, 14.0, 10.0, 40.0
_NARROW = 390
"""Pixels: what a page of 420 pixels has between its margins."""
_LETTER = 6.3
"""About how wide a letter of a tick is, in pixels; a Japanese character is as wide as two."""


class _Axis:
    """Where values of one axis are drawn: `start` and `end` in pixels."""

    def __init__(self, spec: dict[str, Any], values: Sequence[Any], start: float, end: float, most: int) -> None:
        self.title = html.unescape((spec.get("title") or {}).get("text", ""))
        self.is_log = spec.get("type") == "log"
        self.names = list(dict.fromkeys(values)) if spec.get("type") == "category" else None
        self._start, self._end = start, end
        if self.names is not None:
            self._low, self._high = -0.5, len(self.names) - 0.5
            self.ticks: list[tuple[float, str]] = [(i, html.unescape(name)) for i, name in enumerate(self.names)]
            return
        known = [self._scaled(v) for v in values if v is not None and (v > 0 or not self.is_log)]
        low, high = min(known, default=0.0), max(known, default=1.0)
        pad = 0.06 * (high - low) or 0.1
        self._low, self._high = low - pad, high + pad
        if "tickvals" in spec:
            self.ticks = list(zip(spec["tickvals"], spec["ticktext"], strict=True))
        else:
            self.ticks = [(value, f"{value:g}") for value in _round(self._low, self._high, most)]
        self.ticks = [tick for tick in self.ticks if self._low <= self._scaled(tick[0]) <= self._high]

    def from_zero(self, most: int) -> _Axis:
        """Bars begin at 0."""
        self._low = 0.0
        self.ticks = [(value, f"{value:g}") for value in _round(0.0, self._high, most)]
        return self

    def _scaled(self, value: float) -> float:
        return math.log10(value) if self.is_log else float(value)

    def at(self, value: Any) -> float:
        number = float(self.names.index(value)) if self.names is not None else self._scaled(value)
        share = (number - self._low) / (self._high - self._low)
        return round(self._start + share * (self._end - self._start), 1)

    @property
    def step(self) -> float:
        """Pixels a category has."""
        return abs(self._end - self._start) / max(len(self.names or ()), 1)


def _round(low: float, high: float, most: int) -> list[float]:
    rough = (high - low) / most
    magnitude = 10.0 ** math.floor(math.log10(rough))
    step = next(m * magnitude for m in (1, 2, 5, 10) if m * magnitude >= rough)
    return [round(i * step, 12) for i in range(math.ceil(low / step), math.floor(high / step) + 1)]


def drawn(figure: Figure, name: str, width: int = 640) -> Markup:
    """The chart, drawn once for wide pages and once for narrow ones, of which the page shows one; `name` says what it
    is to those who do not see it."""
    return Markup('<div class="drawn">{}{}</div>').format(
        _chart(figure, name, width, "chart wide"), _chart(figure, name, _NARROW, "chart narrow")
    )


def _chart(figure: Figure, name: str, width: int, css: str) -> Markup:
    data, layout = figure["data"], figure["layout"]
    height = float(layout["height"])
    bars = any(trace["type"] == "bar" for trace in data)
    lines = [line for line in layout.get("shapes", ()) if line.get("yref") == "y"]
    left = _LEFT
    if bars:
        left = 14 + _LETTER * max(cell_len(html.unescape(y)) for trace in data for y in trace["y"])
    xs = _totals(data) if bars else [x for trace in data for x in trace["x"]]
    ys = [y for trace in data for y in trace["y"]] + [line["y0"] for line in lines]
    x = _Axis(layout["xaxis"], xs, left, width - _RIGHT, max(2, min(7, int((width - left) / 60))))
    y = _Axis(layout["yaxis"], ys, height - _BOTTOM, _TOP, max(2, int(height / 45)))
    if bars:
        x = x.from_zero(max(2, min(6, int((width - left) / 60))))
    parts = [_grid(x, y, left, width, height, bars)]
    for line in lines:
        at = y.at(line["y0"])
        parts.append(Markup('<line class="one" x1="{}" x2="{}" y1="{}" y2="{}"/>').format(left, width - _RIGHT, at, at))
    parts += _bars(data, x, y) if bars else [_curve(trace, x, y) for trace in data]
    return Markup(
        '<svg class="{4}" viewBox="0 0 {0} {1:g}" width="{0}" height="{1:g}" role="img" aria-label="{2}">{3}</svg>'
    ).format(width, height, name, Markup("").join(parts), css)


def _totals(data: Sequence[Figure]) -> list[float]:
    """The lengths of stacked bars."""
    sums: dict[str, float] = {}
    for trace in data:
        for name, value in zip(trace["y"], trace["x"], strict=True):
            sums[name] = sums.get(name, 0.0) + value
    return list(sums.values())


def _grid(x: _Axis, y: _Axis, left: float, width: int, height: float, bars: bool) -> Markup:
    foot, right = height - _BOTTOM, width - _RIGHT
    parts = [
        Markup('<line class="grid" x1="{0}" x2="{0}" y1="{1}" y2="{2}"/>').format(x.at(v), _TOP, foot)
        for v, _ in x.ticks
    ]
    parts += [
        Markup('<text x="{}" y="{}" text-anchor="middle">{}</text>').format(x.at(v), foot + 15, words)
        for v, words in x.ticks
    ]
    for value, words in y.ticks:
        at = y.at(y.names[int(value)] if y.names is not None else value)
        if not bars:
            parts.append(Markup('<line class="grid" x1="{}" x2="{}" y1="{}" y2="{}"/>').format(left, right, at, at))
        parts.append(Markup('<text x="{}" y="{}" text-anchor="end">{}</text>').format(left - 6, at + 4, words))
    middle = (left + right) / 2
    parts.append(Markup('<text x="{}" y="{}" text-anchor="middle">{}</text>').format(middle, height - 6, x.title))
    if y.title:
        at = (_TOP + foot) / 2
        turned = '<text transform="translate(11 {}) rotate(-90)" text-anchor="middle">{}</text>'
        parts.append(Markup(turned).format(at, y.title))
    return Markup("").join(parts)


def _bars(data: Sequence[Figure], x: _Axis, y: _Axis) -> list[Markup]:
    parts, sums = [], dict.fromkeys(y.names or (), 0.0)
    thick = round(y.step * 0.65, 1)
    for trace in data:
        for name, value in zip(trace["y"], trace["x"], strict=True):
            begin, end = x.at(sums[name]), x.at(sums[name] + value)
            sums[name] += value
            parts.append(
                Markup(
                    '<rect x="{}" y="{:.1f}" width="{:.1f}" height="{}" style="fill:var(--{})"><title>{}</title></rect>'
                ).format(
                    begin,
                    y.at(name) - thick / 2,
                    end - begin,
                    thick,
                    _role(trace["marker"]["color"]),
                    _hover(trace, value, name),
                )
            )
    return parts


def _curve(trace: Figure, x: _Axis, y: _Axis) -> Markup:
    """Its line, broken where a value is missing, and its markers, each with what it shows."""
    style = trace.get("line") or trace["marker"]
    parts = []
    points = [(a, b) for a, b in zip(trace["x"], trace["y"], strict=True)]
    if "lines" in trace["mode"]:
        path, pen = [], "M"
        for a, b in points:
            if b is None:
                pen = "M"
                continue
            path.append(f"{pen}{x.at(a)} {y.at(b)}")
            pen = "L"
        parts.append(
            Markup('<path d="{}" fill="none" stroke-width="{}" stroke-dasharray="{}"/>').format(
                "".join(path), style["width"], DASHES.get(style.get("dash", "solid"), "")
            )
        )
    if "markers" in trace["mode"]:
        opacity, symbol = trace["marker"].get("opacity", 1.0), trace["marker"]["symbol"]
        open_ = Markup(' class="open"') if symbol.endswith("-open") else ""
        for number, (a, b) in enumerate(points):
            if b is None:
                continue
            faint = opacity[number] if isinstance(opacity, list) else opacity
            parts.append(
                Markup('<g{} transform="translate({:.1f} {:.1f})" opacity="{}">{}<title>{}</title></g>').format(
                    open_, x.at(a) - 17, y.at(b) - 7, faint, shape(symbol), _hover(trace, a, b)
                )
            )
    return Markup('<g class="curve" style="color:var(--{})">{}</g>').format(
        _role(style["color"]), Markup("").join(parts)
    )


def _role(colour: str) -> str:
    return colour.lstrip("@").split("/")[0]


def _hover(trace: Figure, x: Any, y: Any) -> str:
    """The trace's hover template as plain text."""
    values = {"x": x, "y": y}

    def written(found: re.Match[str]) -> str:
        value = values[found[1]]
        return f"{value:{found[2][1:]}}" if found[2] and not isinstance(value, str) else str(value)

    text = re.sub(r"<extra></extra>", "", trace.get("hovertemplate", ""))
    text = re.sub(r"<br>", "\n", text)
    text = re.sub(r"</?b>", "", text)
    return html.unescape(re.sub(r"%\{(x|y)(:[^}]*)?\}", written, text))
