"""Several charts of time over message size side by side, as one SVG file that needs nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log2, log10

from unisono.report.palette import ROLES
from unisono.sizes import format_size

_WIDTH, _HEIGHT = 560, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 76, 30, 64, 86
_DASHES = ("", "6 4", "2 3", "8 3 2 3")


@dataclass(frozen=True, slots=True)
class Chart:
    """Curves by their names: seconds by message size. The first two names are drawn thick."""

    title: str
    note: str
    curves: Mapping[str, Mapping[int, float]]


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
    times = [time for curve in chart.curves.values() for time in curve.values()]
    low, high = floor(log10(min(times) * 1e6)), ceil(log10(max(times) * 1e6))
    first, last = log2(max(sizes[0], 1)), log2(sizes[-1])

    def across(size: int) -> float:
        return _LEFT + (log2(max(size, 1)) - first) / max(last - first, 1) * (_WIDTH - _LEFT - _RIGHT)

    def up(microseconds: float) -> float:
        return _HEIGHT - _BOTTOM - (log10(microseconds) - low) / max(high - low, 1) * (_HEIGHT - _TOP - _BOTTOM)

    parts = [
        f'<text x="{_LEFT}" y="24" font-size="15" font-weight="bold" fill="{_colour("text")}">'
        f"{escape(chart.title)}</text>",
        f'<text x="{_LEFT}" y="44" fill="{_colour("quiet")}">{escape(chart.note)}</text>',
    ]
    for power in range(low, high + 1):
        y = up(10.0**power)
        label = f"{10.0**power:g} us" if power < 3 else f"{10.0 ** (power - 3):g} ms"
        parts.append(f'<path d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}" stroke="{_colour("grid")}"/>')
        parts.append(
            f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end" fill="{_colour("quiet")}">{label}</text>'
        )
    for size in sizes[:: max(1, -(-len(sizes) // 9))]:
        parts.append(
            f'<text x="{across(size):.1f}" y="{_HEIGHT - _BOTTOM + 18}" text-anchor="middle" fill="{_colour("quiet")}">'
            f"{escape(format_size(size))}</text>"
        )
    for number, (name, curve) in enumerate(chart.curves.items()):
        parts += _curve(number, name, [(across(size), up(time * 1e6)) for size, time in sorted(curve.items())])
    return parts


def _curve(number: int, name: str, points: Sequence[tuple[float, float]]) -> list[str]:
    role = ("default", "chosen", "series-2", "series-3", "series-5", "limit")[number % 6]
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
