"""What benchmarks/solver.py kept of all processors as one SVG file: shares of the memory bandwidth, and PETSc's times.

Each line of a panel is one layout on one processor: a dot for the median, a bar from the least to the most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unisono.report.svg import colour, sheet, words

_WIDTH, _LEFT, _RIGHT, _TOP, _LINE = 900, 300, 40, 92, 26


@dataclass(frozen=True, slots=True)
class Mark:
    median: float
    least: float
    most: float


@dataclass(frozen=True, slots=True)
class Panel:
    title: str
    note: str
    series: tuple[tuple[str, str], ...]
    """Name and role of its colour."""
    lines: tuple[tuple[str, tuple[Mark, ...]], ...]
    """Words, and a mark for each series."""
    ticks: tuple[float, ...]
    bound: float
    """Where a vertical line is drawn, with `bound_words`."""
    bound_words: str
    unit: str = ""


def _mark(values: Mapping[str, float], factor: float) -> Mark:
    return Mark(values["median"] * factor, values["least"] * factor, values["most"] * factor)


def _layout(name: str) -> str:
    threads, _, processes = name.partition("x")
    first = "1 process" if processes == "1" else f"{processes} processes"
    return first if threads == "1" else f"{first} of {threads} threads"


def panels(kept: Mapping[str, Mapping[str, Any]]) -> list[Panel]:
    """`kept`: what solver.json holds, by processor. Layouts with options of their own are for comparing ways to
    prefetch, not layouts, and are left out."""
    shares, races = [], []
    for processor, found in kept.items():
        for name, values in found.get("bandwidth", {"layouts": {}})["layouts"].items():
            if " " not in name:
                marks = (_mark(values["best"], 100), _mark(values["beside"], 100))
                shares.append((f"{processor}, {_layout(name)}", marks))
        for race in found.get("petsc", {"races": []})["races"]:
            ordering = "CM-RCM" if race["ordering"] == "cmrcm" else race["ordering"]
            races.append((f"{processor}, {_layout(race['layout'])}, {ordering}", (_mark(race["ratio"], 1),)))
    return [
        Panel(
            "Speed of the solver in percent of the memory bandwidth",
            "the byte model's GB/s over the triad's GB/s; dot: median, bar: least to most",
            (("quickest iteration / best triad", "chosen"), ("whole solution / triads during it", "worse")),
            tuple(shares),
            (60, 80, 100, 120, 140),
            90,
            "the aim: 90 %",
            " %",
        ),
        Panel(
            "PETSc's time over the solver's",
            "time to solution, 1e-8; dot: median, bar: least to most; right of the line the solver is faster",
            (("PETSc / solver", "chosen"),),
            tuple(races),
            (1, 2, 3, 4, 5),
            1,
            "the same time",
        ),
    ]


def draw(drawn: Sequence[Panel]) -> str:
    heights = [_TOP + _LINE * len(panel.lines) + 56 for panel in drawn]
    parts = []
    for number, panel in enumerate(drawn):
        parts += [f'<g transform="translate(0,{sum(heights[:number])})">', *_panel(panel), "</g>"]
    return sheet(_WIDTH, sum(heights), parts, font=13)


def _panel(panel: Panel) -> list[str]:
    every = [value for _, marks in panel.lines for mark in marks for value in (mark.least, mark.most)]
    low, high = min(*every, *panel.ticks), max(*every, *panel.ticks)
    bottom = _TOP + _LINE * len(panel.lines)

    def across(value: float) -> float:
        return _LEFT + (value - low) / (high - low) * (_WIDTH - _LEFT - _RIGHT)

    parts = [
        words(16, 26, panel.title, more='font-size="16" font-weight="bold"'),
        words(16, 46, panel.note, "quiet"),
    ]
    for number, (name, role) in enumerate(panel.series):
        parts.append(f'<circle cx="{24 + 270 * number}" cy="66" r="5" fill="{colour(role)}"/>')
        parts.append(words(36 + 270 * number, 70, name))
    for tick in panel.ticks:
        parts.append(f'<path d="M{across(tick):.1f} {_TOP}V{bottom}" stroke="{colour("grid")}"/>')
        parts.append(words(across(tick), bottom + 18, f"{tick:g}{panel.unit}", "quiet", 'text-anchor="middle"'))
    at = across(panel.bound)
    parts.append(f'<path d="M{at:.1f} {_TOP - 6}V{bottom}" stroke="{colour("limit")}" stroke-dasharray="5 3"/>')
    parts.append(words(at + 4, _TOP - 6, panel.bound_words, "limit"))
    for number, (name, marks) in enumerate(panel.lines):
        y = _TOP + _LINE * (number + 0.5)
        parts.append(words(_LEFT - 14, y + 4, name, more='text-anchor="end"'))
        for place, mark in enumerate(marks):
            own = colour(panel.series[place][1])
            beside = y + (place - (len(marks) - 1) / 2) * 9
            span = f"M{across(mark.least):.1f} {beside:.1f}H{across(mark.most):.1f}"
            parts.append(f'<path d="{span}" stroke="{own}" stroke-width="2.5" opacity="0.55"/>')
            parts.append(f'<circle cx="{across(mark.median):.1f}" cy="{beside:.1f}" r="4" fill="{own}"/>')
    return parts
