"""Several charts of times or ratios over sizes or cores side by side, as one SVG file that needs nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, floor, log2, log10

from unisono.core.sizes import format_size
from unisono.report.svg import colour, sheet, words

_ROLES = ("default", "chosen", "series-2", "series-3", "series-5", "limit")
_DASHES = ("", "6 4", "2 3", "8 3 2 3")
_RATIOS = (0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0)
_BETWEEN_WORDS = 52
"""Pixels from the middle of one message size below the axis to the middle of the next, at least."""
_NAMED, _LETTER = 48, 7
"""Pixels that a name of the legend takes beside its letters, and for each of them."""


@dataclass(frozen=True, slots=True)
class Panel:
    """The pixels of one chart, and how many of them its curves leave free on each side."""

    width: int = 560
    height: int = 400
    left: int = 76
    right: int = 30
    top: int = 64
    bottom: int = 86
    alone: bool = True
    """The chart has its own axis and its own legend. Otherwise all charts of the picture share them."""


@dataclass(frozen=True, slots=True)
class Chart:
    """Curves by their names: seconds by message size. The first two names are drawn thick."""

    title: str
    note: str
    curves: Mapping[str, Mapping[int, float]]
    points: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    """By the curve whose colour they take: squares."""
    unit: str = "s"
    """"s": seconds on a logarithmic axis; "": plain numbers on a linear one; "times": ratios on a logarithmic one."""
    label: Callable[[int], str] = format_size
    """Of what is across."""
    roles: Sequence[str] = _ROLES
    """The colours of the curves (unisono.report.palette), in order."""
    marked: bool = False
    """Every curve has another mark at its points, so that nobody has to tell them apart by colour."""


@dataclass(frozen=True, slots=True)
class _Axis:
    """Of times or plain numbers: ticks with their words, and where a value is, 0 to 1."""

    low: float
    high: float
    logarithmic: bool
    ticks: tuple[tuple[float, str], ...]

    def part(self, value: float) -> float:
        at, low, high = (log10(v) if self.logarithmic else v for v in (value, self.low, self.high))
        return (at - low) / max(high - low, 1e-12)


def _axis(values: Sequence[float], unit: str) -> _Axis:
    if unit == "times":
        low = max((ratio for ratio in _RATIOS[:5] if ratio <= min(values)), default=_RATIOS[0])
        high = min((ratio for ratio in _RATIOS[5:] if ratio >= max(values)), default=_RATIOS[-1])
        return _Axis(low, high, True, tuple((ratio, f"{ratio:g}") for ratio in _RATIOS if low <= ratio <= high))
    if unit:
        lowest, highest = floor(log10(min(values) * 1e6)), ceil(log10(max(values) * 1e6))
        highest = max(highest, lowest + 1)
        ticks = tuple((10.0 ** (power - 6), _power(power)) for power in range(lowest, highest + 1))
        return _Axis(ticks[0][0], ticks[-1][0], True, ticks)
    span = max(max(values) - min(values), 0.02)
    step = next(s for s in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0**9) if span / s <= 6)
    first, last = floor(min(values) / step), ceil(max(values) / step)
    return _Axis(first * step, last * step, False, tuple((i * step, f"{i * step:.4g}") for i in range(first, last + 1)))


def _power(of_ten: int) -> str:
    """Microseconds, in the unit that makes it readable: 100 us, 10 ms, 0.1 s."""
    unit, less = ("us", 0) if of_ten < 3 else ("ms", 3) if of_ten < 5 else ("s", 6)
    return f"{10.0 ** (of_ten - less):g} {unit}"


def draw(
    charts: Sequence[Chart], columns: int = 2, panel: Panel | None = None, heading: str = "", note: str = ""
) -> str:
    """SVG text. The heading and the note stand above all charts."""
    panel = panel or Panel()
    above = 20 * bool(heading) + 18 * bool(note) + 8 * bool(heading or note)
    rows, width = -(-len(charts) // columns), columns * panel.width
    names = [] if panel.alone else list(charts[0].curves)
    beside = max(min(len(names), (width - 24) // max((_NAMED + _LETTER * len(name) for name in names), default=1)), 1)
    lines = -(-len(names) // beside)
    height = above + rows * panel.height + (10 + 20 * lines if lines else 0)
    parts = [
        *([_bold(12, 20, heading)] if heading else []),
        *([words(12, above - 10, note, "quiet")] if note else []),
    ]
    shared = None if panel.alone else _axis([value for chart in charts for value in _values(chart)], charts[0].unit)
    for i, chart in enumerate(charts):
        x, y = i % columns * panel.width, above + i // columns * panel.height
        axis = shared or _axis(_values(chart), chart.unit)
        parts += [f'<g transform="translate({x},{y})">', *_chart(chart, panel, axis), "</g>"]
    for number, name in enumerate(names):
        x, y = 12 + number % beside * ((width - 24) // beside), height - 10 - 20 * (lines - 1 - number // beside)
        parts += _named(charts[0], number, name, x, y)
    return sheet(width, height, parts)


def _values(chart: Chart) -> list[float]:
    return [y for curves in (chart.curves, chart.points) for curve in curves.values() for y in curve.values()]


def _bold(x: int, y: int, text: str) -> str:
    return words(x, y, text, more='font-size="15" font-weight="bold"')


def _chart(chart: Chart, panel: Panel, axis: _Axis) -> list[str]:
    sizes = sorted({size for curve in chart.curves.values() for size in curve})
    first, last = log2(max(sizes[0], 1)), log2(sizes[-1])
    right, bottom = panel.width - panel.right, panel.height - panel.bottom

    def across(size: int) -> float:
        return panel.left + (log2(max(size, 1)) - first) / max(last - first, 1) * (right - panel.left)

    def up(value: float) -> float:
        return bottom - axis.part(value) * (bottom - panel.top)

    parts = [_bold(panel.left, 24 if panel.alone else 18, chart.title)]
    if chart.note:
        parts.append(words(panel.left, 44, chart.note, "quiet"))
    if chart.unit == "times":
        width, height = right - panel.left, bottom - up(1.0)
        fill = colour("neutral")
        parts.append(f'<rect x="{panel.left}" y="{up(1.0):.1f}" width="{width}" height="{height:.1f}" fill="{fill}"/>')
    beside = panel.left - (9 if chart.marked else 6)
    for value, label in axis.ticks:
        y = up(value)
        line = "quiet" if chart.unit == "times" and value == 1.0 else "grid"
        parts.append(f'<path d="M{panel.left} {y:.1f}H{right}" stroke="{colour(line)}"/>')
        parts.append(words(beside, y + 4, label, "quiet", 'text-anchor="end"'))
    for size in _apart(sizes, across):
        parts.append(words(across(size), bottom + 18, chart.label(size), "quiet", 'text-anchor="middle"'))
    for number, (name, curve) in enumerate(chart.curves.items()):
        parts += _curve(chart, number, [(across(x), up(y)) for x, y in sorted(curve.items())])
        if panel.alone:
            x, y = panel.left + number % 2 * 250, bottom + 40 + number // 2 * 16
            parts += _named(chart, number, name, x, y)
        parts += _squares(chart, number, [(across(x), up(y)) for x, y in sorted(chart.points.get(name, {}).items())])
    return parts


def _apart(sizes: Sequence[int], across: Callable[[int], float]) -> list[int]:
    """The sizes that are written below the axis: as many as have room beside each other."""
    written = [sizes[0]]
    for size in sizes[1:]:
        if across(size) - across(written[-1]) >= _BETWEEN_WORDS:
            written.append(size)
    return written


def _stroke(chart: Chart, number: int) -> str:
    width = 2.5 if number < 2 or chart.marked else 1.5
    dash = f' stroke-dasharray="{_DASHES[number // 2 % 4]}"' if number > 1 and not chart.marked else ""
    return f'stroke="{_role(chart, number)}" stroke-width="{width}"{dash}'


def _role(chart: Chart, number: int) -> str:
    return colour(chart.roles[number % len(chart.roles)])


def _curve(chart: Chart, number: int, points: Sequence[tuple[float, float]]) -> list[str]:
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    marks = [_mark(chart, number, x, y) for x, y in points]
    return [f'<path d="M{path}" fill="none" {_stroke(chart, number)}/>', *marks]


def _mark(chart: Chart, number: int, x: float, y: float) -> str:
    fill = f'fill="{_role(chart, number)}"'
    shapes = ((), ((-4, -4), (4, -4), (4, 4), (-4, 4)), ((0, -5), (5, 4), (-5, 4)), ((0, -5), (5, 0), (0, 5), (-5, 0)))
    shape = shapes[number % 4] if chart.marked else ()
    if not shape:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{4 if chart.marked else 3}" {fill}/>'
    corners = " ".join(f"{x + right:.1f},{y + down:.1f}" for right, down in shape)
    return f'<polygon points="{corners}" {fill}/>'


def _named(chart: Chart, number: int, name: str, x: int, y: int) -> list[str]:
    """A line of the legend."""
    return [
        f'<path d="M{x} {y - 4}h26" {_stroke(chart, number)}/>',
        *([_mark(chart, number, x + 13, y - 4)] if chart.marked else []),
        words(x + 32, y, name),
    ]


def _squares(chart: Chart, number: int, points: Sequence[tuple[float, float]]) -> list[str]:
    style = f'fill="{colour("page")}" stroke="{_role(chart, number)}" stroke-width="2"'
    return [f'<rect x="{x - 5:.1f}" y="{y - 5:.1f}" width="10" height="10" {style}/>' for x, y in points]
