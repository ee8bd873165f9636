"""Several charts of times or ratios over sizes or cores side by side, as one SVG file that needs nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from math import ceil, floor, log2, log10

from unisono.core.sizes import format_size
from unisono.report.palette import ROLES

_WIDTH, _HEIGHT = 560, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 76, 30, 64, 86
_ROLES = ("default", "chosen", "series-2", "series-3", "series-5", "limit")
_DASHES = ("", "6 4", "2 3", "8 3 2 3")


@dataclass(frozen=True, slots=True)
class Chart:
    """Curves by their names: seconds by message size. The first two names are drawn thick."""

    title: str
    note: str
    curves: Mapping[str, Mapping[int, float]]
    points: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    """By the curve whose colour they take: squares."""
    unit: str = "s"
    """"s": seconds on a logarithmic axis; "": plain numbers on a linear one."""
    label: Callable[[int], str] = format_size
    """Of what is across."""


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
    if unit:
        low, high = floor(log10(min(values) * 1e6)), ceil(log10(max(values) * 1e6))
        high = max(high, low + 1)
        words = [_power(p) for p in range(low, high + 1)]
        ticks = tuple((10.0 ** (low + i - 6), word) for i, word in enumerate(words))
        return _Axis(10.0 ** (low - 6), 10.0 ** (high - 6), True, ticks)
    span = max(max(values) - min(values), 0.02)
    step = next(s for s in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0**9) if span / s <= 6)
    first, last = floor(min(values) / step), ceil(max(values) / step)
    return _Axis(first * step, last * step, False, tuple((i * step, f"{i * step:.4g}") for i in range(first, last + 1)))


def _power(of_ten: int) -> str:
    """Microseconds, in the unit that makes it readable: 100 us, 10 ms, 0.1 s."""
    unit, less = ("us", 0) if of_ten < 3 else ("ms", 3) if of_ten < 5 else ("s", 6)
    return f"{10.0 ** (of_ten - less):g} {unit}"


def draw(charts: Sequence[Chart], columns: int = 2) -> str:
    """SVG text; both axes logarithmic."""
    rows = -(-len(charts) // columns)
    width, height = columns * _WIDTH, rows * _HEIGHT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="Helvetica, Arial, sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="{_colour("page")}"/>',
    ]
    for i, chart in enumerate(charts):
        x, y = i % columns * _WIDTH, i // columns * _HEIGHT
        parts += [f'<g transform="translate({x},{y})">', *_chart(chart), "</g>"]
    return "\n".join([*parts, "</svg>\n"])


def _colour(role: str) -> str:
    return ROLES[role][0]


def _chart(chart: Chart) -> list[str]:
    sizes = sorted({size for curve in chart.curves.values() for size in curve})
    marks = [y for points in chart.points.values() for y in points.values()]
    axis = _axis([*(y for curve in chart.curves.values() for y in curve.values()), *marks], chart.unit)
    first, last = log2(max(sizes[0], 1)), log2(sizes[-1])

    def across(size: int) -> float:
        return _LEFT + (log2(max(size, 1)) - first) / max(last - first, 1) * (_WIDTH - _LEFT - _RIGHT)

    def up(value: float) -> float:
        return _HEIGHT - _BOTTOM - axis.part(value) * (_HEIGHT - _TOP - _BOTTOM)

    parts = [
        f'<text x="{_LEFT}" y="24" font-size="15" font-weight="bold" fill="{_colour("text")}">'
        f"{escape(chart.title)}</text>",
        f'<text x="{_LEFT}" y="44" fill="{_colour("quiet")}">{escape(chart.note)}</text>',
    ]
    for value, label in axis.ticks:
        y = up(value)
        parts.append(f'<path d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}" stroke="{_colour("grid")}"/>')
        parts.append(
            f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end" fill="{_colour("quiet")}">{label}</text>'
        )
    for size in sizes[:: max(1, -(-len(sizes) // 9))]:
        parts.append(
            f'<text x="{across(size):.1f}" y="{_HEIGHT - _BOTTOM + 18}" text-anchor="middle" fill="{_colour("quiet")}">'
            f"{escape(chart.label(size))}</text>"
        )
    for number, (name, curve) in enumerate(chart.curves.items()):
        parts += _curve(number, name, [(across(x), up(y)) for x, y in sorted(curve.items())])
        parts += _squares(number, [(across(x), up(y)) for x, y in sorted(chart.points.get(name, {}).items())])
    return parts


def _curve(number: int, name: str, points: Sequence[tuple[float, float]]) -> list[str]:
    role = _ROLES[number % 6]
    width = 2.5 if number < 2 else 1.5
    dash = f' stroke-dasharray="{_DASHES[number // 2 % 4]}"' if number > 1 else ""
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    x, y = _LEFT + number % 2 * 250, _HEIGHT - _BOTTOM + 40 + number // 2 * 16
    dots = [f'<circle cx="{px:.1f}" cy="{py:.1f}" r="3" fill="{_colour(role)}"/>' for px, py in points]
    return [
        f'<path d="M{path}" fill="none" stroke="{_colour(role)}" stroke-width="{width}"{dash}/>',
        *dots,
        f'<path d="M{x} {y - 4}h26" stroke="{_colour(role)}" stroke-width="{width}"{dash}/>',
        f'<text x="{x + 32}" y="{y}" fill="{_colour("text")}">{escape(name)}</text>',
    ]


def _squares(number: int, points: Sequence[tuple[float, float]]) -> list[str]:
    style = f'fill="{_colour("page")}" stroke="{_colour(_ROLES[number % 6])}" stroke-width="2"'
    return [f'<rect x="{x - 5:.1f}" y="{y - 5:.1f}" width="10" height="10" {style}/>' for x, y in points]
