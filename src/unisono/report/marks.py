"""Small drawings that are part of the text: intervals on a ratio scale, sparklines, legend swatches.

Inline SVG coloured by the page's style sheet, so that they need no script, print, and follow the theme.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from unisono.core.interval import Interval
from unisono.core.language import _
from unisono.report.text import format_gain, format_range, format_ratio
from unisono.report.view import CaseView

_WIDEST = 16.0
_TICKS = (1 / 16, 1 / 8, 0.25, 1 / 3, 0.5, 2 / 3, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0, 3.0, 4.0, 8.0, 16.0)
_PAD = 12.0


@dataclass(frozen=True, slots=True)
class RatioScale:
    """A logarithmic scale that all intervals of a table share."""

    low: float
    high: float
    width: int = 360

    @classmethod
    def over(cls, gains: Iterable[Interval], width: int = 360) -> RatioScale:
        """From the intervals' ends, at least 0.87 to 1.15, clipped where an interval has no end."""
        ends = [v for g in gains for v in (g.low, g.mid, g.high) if math.isfinite(v) and v > 0]
        low = max(min([*ends, 0.87]) / 1.04, 1 / _WIDEST)
        high = min(max([*ends, 1.15]) * 1.04, _WIDEST)
        return cls(low, high, width)

    def x(self, value: float) -> float:
        if not value > 0:
            return _PAD / 2
        share = (math.log(value) - math.log(self.low)) / (math.log(self.high) - math.log(self.low))
        return round(min(max(_PAD + share * (self.width - 2 * _PAD), _PAD / 2), self.width - _PAD / 2), 1)

    @property
    def ticks(self) -> list[float]:
        """As many of the round ratios as have room; 1 always."""
        inside = [t for t in _TICKS if self.low <= t <= self.high]
        room = 42.0
        kept = [1.0]
        for tick in sorted(inside, key=lambda t: abs(math.log(t))):
            if all(abs(self.x(tick) - self.x(other)) >= room for other in kept):
                kept.append(tick)
        return sorted(kept)


def ratio_axis(scale: RatioScale) -> Markup:
    """The scale's numbers, for the table's head."""
    texts = [
        Markup('<text x="{}" y="12" text-anchor="middle"{}>{}</text>').format(
            scale.x(t), Markup(' class="one"') if t == 1 else "", format_ratio(t)
        )
        for t in scale.ticks
    ]
    return Markup('<svg class="axis" viewBox="0 0 {0} 16" width="{0}" height="16" aria-hidden="true">{1}</svg>').format(
        scale.width, Markup("").join(texts)
    )


def interval_mark(scale: RatioScale, gain: Interval, margin: float, *, second: Interval | None = None) -> Markup:
    """A point with its interval over the line of no gain and the margin around it; `second` is drawn hollow below.

    Blue and a filled disc when faster, orange and a square when slower, grey and a hollow disc when neither.
    """
    height = 24 if second is None else 32
    y = height / 2 if second is None else 11
    parts = [_grid(scale, height, margin), _interval(scale, gain, y, kind(gain))]
    if second is not None:
        parts.append(_interval(scale, second, 23, "study"))
    return Markup(
        '<svg class="interval" viewBox="0 0 {0} {1}" width="{0}" height="{1}" role="img" aria-label="{2}">{3}</svg>'
    ).format(scale.width, height, format_gain(gain), Markup("").join(parts))


def kind(gain: Interval) -> str:
    return "better" if gain.low > 1 else "worse" if gain.high < 1 else "same"


def _grid(scale: RatioScale, height: float, margin: float) -> Markup:
    left, right = scale.x(1 / (1 + margin)), scale.x(1 + margin)
    lines = [
        Markup('<line class="tick" x1="{0}" x2="{0}" y1="0" y2="{1}"/>').format(scale.x(t), height)
        for t in scale.ticks
        if t != 1
    ]
    return Markup(
        '{}<rect class="margin" x="{}" width="{}" y="0" height="{}"/><line class="one" x1="{}" x2="{}" y1="0" y2="{}"/>'
    ).format(Markup("").join(lines), left, round(right - left, 1), height, scale.x(1), scale.x(1), height)


def _interval(scale: RatioScale, gain: Interval, y: float, name: str) -> Markup:
    low, mid, high = scale.x(gain.low), scale.x(gain.mid), scale.x(gain.high)
    ends = [Markup('<line x1="{0}" x2="{1}" y1="{2}" y2="{2}"/>').format(low, high, y)]
    for value, x, inward in ((gain.low, low, 4), (gain.high, high, -4)):
        if not math.isfinite(value) or not scale.low <= value <= scale.high:
            ends.append(
                Markup('<path d="M{0} {1}L{2} {3}L{0} {4}" fill="none"/>').format(x + inward, y - 4, x, y, y + 4)
            )
    if name == "worse":
        dot = Markup('<rect x="{}" y="{}" width="9" height="9"/>').format(mid - 4.5, y - 4.5)
    else:
        dot = Markup('<circle cx="{}" cy="{}" r="{}"/>').format(mid, y, 3.5 if name == "study" else 5)
    return Markup('<g class="{}">{}{}</g>').format(name, Markup("").join(ends), dot)


def sparkline(view: CaseView, width: int = 150, height: int = 30) -> Markup:
    """Gain of the chosen setting over message size, faster above the line. The scale reaches at least 0.67 and 1.5."""
    gains = [e.gain.mid for e in view.chosen if e.gain.mid > 0]
    if len(gains) < 2 or view.keeps_default:
        return Markup("")
    reach = max(math.log(1.5), *(abs(math.log(g)) for g in gains))
    points = [
        (
            round(3 + i * (width - 6) / (len(gains) - 1), 1),
            round(height / 2 - math.log(g) / reach * (height / 2 - 3), 1),
        )
        for i, g in enumerate(gains)
    ]
    line = " ".join(f"{x},{y}" for x, y in points)
    area = f"3,{height / 2} {line} {width - 3},{height / 2}"
    return Markup(
        '<svg class="spark" viewBox="0 0 {0} {1}" width="{0}" height="{1}" role="img" aria-label="{4}">'
        '<polygon points="{2}"/><line x1="0" x2="{0}" y1="{5}" y2="{5}"/><polyline points="{3}"/></svg>'
    ).format(
        width,
        height,
        area,
        line,
        _("gain over message size, between {low} and {high}").format(
            low=format_ratio(min(gains)), high=format_ratio(max(gains))
        ),
        height / 2,
    )


def strip(first: int | None, last: int | None, sizes: Sequence[int], css: str, width: int = 92) -> Markup:
    """Where on the sizes of a case something holds; nothing when it names no sizes."""
    if first is None or last is None or len(sizes) < 2:
        return Markup("")
    logs = [math.log2(size) if size else math.log2(max(sizes[1], 1)) - 1 for size in sizes]
    step = width / (logs[-1] - logs[0] + 1)
    inside = [log for size, log in zip(sizes, logs, strict=True) if first <= size <= last]
    if not inside:
        return Markup("")
    left, right = (inside[0] - logs[0]) * step, (inside[-1] - logs[0] + 1) * step
    words = _("{part} of {whole}").format(part=format_range(first, last), whole=format_range(sizes[0], sizes[-1]))
    return Markup(
        '<svg class="strip" viewBox="0 0 {0} 8" width="{0}" height="8" role="img" aria-label="{1}"><title>{1}</title>'
        '<rect width="{0}" height="8" rx="2"/><rect class="{2}" x="{3:.1f}" width="{4:.1f}" height="8" rx="2"/></svg>'
    ).format(width, words, css, left, right - left)


DASHES = {
    "solid": "",
    "dash": "6 4",
    "dot": "2 3",
    "dashdot": "6 3 2 3",
    "longdash": "9 4",
    "longdashdot": "9 3 2 3",
}

_SHAPES = {
    "circle": '<circle cx="17" cy="7" r="3.6"/>',
    "square": '<rect x="13.6" y="3.6" width="6.8" height="6.8"/>',
    "diamond": '<path d="M17 2.4L21.6 7L17 11.6L12.4 7Z"/>',
    "triangle-up": '<path d="M17 2.6L21 10H13Z"/>',
    "triangle-down": '<path d="M17 11.4L21 4H13Z"/>',
    "cross": '<path d="M15.6 3H18.4V5.6H21V8.4H18.4V11H15.6V8.4H13V5.6H15.6Z"/>',
    "x": '<path d="M13.6 3.6L20.4 10.4M20.4 3.6L13.6 10.4" stroke-width="2.6"/>',
    "star": '<path d="M17 2L18.3 5.4L22 5.6L19.1 7.9L20.1 11.5L17 9.4L13.9 11.5L14.9 7.9L12 5.6L15.7 5.4Z"/>',
    "hexagon": '<path d="M17 2.8L20.7 4.9V9.1L17 11.2L13.3 9.1V4.9Z"/>',
    "pentagon": '<path d="M17 2.6L21.2 5.7L19.6 10.6H14.4L12.8 5.7Z"/>',
}


def shape(marker: str) -> Markup:
    """A marker by Plotly's name for it, around (17, 7); nothing for a name that has none."""
    return Markup(_SHAPES.get(marker.removesuffix("-open"), ""))


class Swatches:
    """How curves look, for legends; a page draws each look once."""

    def __init__(self) -> None:
        self._numbers: dict[Markup, int] = {}

    def __call__(self, colour: str, dash: str, marker: str, width: float = 2.0) -> Markup:
        """One of them; `colour` is a role such as "@chosen"."""
        drawn = Markup(
            '<g style="color:var(--{})"><line x1="1" x2="33" y1="7" y2="7" stroke="currentColor" stroke-width="{}" '
            'stroke-dasharray="{}"/><g fill="{}" stroke="currentColor" stroke-width="1.4">{}</g></g>'
        ).format(
            colour.lstrip("@"),
            width,
            DASHES.get(dash, ""),
            "var(--page)" if marker.endswith("-open") else "currentColor",
            shape(marker),
        )
        number = self._numbers.setdefault(drawn, len(self._numbers))
        return Markup('<svg class="swatch" aria-hidden="true"><use href="#look{}"/></svg>').format(number)

    def drawn(self) -> Markup:
        """What the swatches refer to, for the end of the page."""
        symbols = Markup().join(
            Markup('<symbol id="look{}" viewBox="0 0 34 14">{}</symbol>').format(number, drawn)
            for drawn, number in self._numbers.items()
        )
        return Markup('<svg width="0" height="0" aria-hidden="true" style="position:absolute">{}</svg>').format(symbols)
