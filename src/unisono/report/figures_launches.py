"""Launch by launch: how far apart the launches of one setting are, beside how far apart the repetitions inside them."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from unisono.core.interval import Interval
from unisono.core.language import _
from unisono.core.sizes import format_size
from unisono.core.vocabulary import DEFAULT, Sample, Setting
from unisono.decide.decision import Decision
from unisono.report.axes import (
    Figure,
    hover_frame,
    layout,
    same_gain_band,
    size_axis,
    size_position,
    value_axis,
)
from unisono.report.figures_steps import Panel
from unisono.report.text import format_time, significant
from unisono.report.view import CaseView

MOST = 40
"""Launches drawn at one message size: of more, so many evenly over their order."""


@dataclass(frozen=True, slots=True)
class Point:
    """One launch at one message size."""

    size: int
    launch: int
    seconds: float
    usual: float
    """Median over the launches of the same setting at this size."""

    @property
    def ratio(self) -> float:
        return self.seconds / self.usual


def launch_panels(view: CaseView, decision: Decision) -> list[Panel]:
    """The default's launches, and the chosen setting's beside them; a setting without two launches of a size is left
    out."""
    wanted: list[tuple[str, str, Callable[[int], Setting]]] = [(_("default"), "@default", lambda _size: DEFAULT)]
    if not view.keeps_default:
        wanted.append((_("chosen"), "@chosen", view.chosen_at))
    panels = []
    for name, colour, setting_at in wanted:
        measured = {size: view.launches_of(size, setting_at(size)) for size in view.sizes}
        points = [p for size, samples in measured.items() for p in _points(size, samples, decision.statistic)]
        if points:
            inside = {size: _inside(measured[size], decision.statistic) for size in {p.size for p in points}}
            figure = _figure(name, colour, points, inside, view.sizes, decision.margin)
            panels.append(Panel(name, _note(points), figure))
    return panels


def _seconds(sample: Sample, statistic: str) -> float:
    return sample.mean if statistic == "mean" else sample.median


def _points(size: int, samples: Sequence[Sample], statistic: str) -> list[Point]:
    """By time; none of a single launch, which is as usual as any."""
    times = sorted((_seconds(s, statistic), s.launch) for s in samples if _seconds(s, statistic) > 0)
    if len(times) < 2:
        return []
    usual = statistics.median(seconds for seconds, _launch in times)
    return [Point(size, launch, seconds, usual) for seconds, launch in times]


def _inside(samples: Sequence[Sample], statistic: str) -> Interval:
    """From the lower quartile to the 95th percentile of the repetitions of a launch, over what counts of that launch:
    of the usual launch."""
    known = [(seconds, s) for s in samples if (seconds := _seconds(s, statistic)) > 0]
    low, high = (statistics.median(getattr(s, end) / seconds for seconds, s in known) for end in ("q1", "p95"))
    return Interval(1.0, low, high)


def _note(points: Sequence[Point]) -> str:
    usual = statistics.median(abs(p.ratio - 1) for p in points)
    worst = max(points, key=lambda p: abs(math.log(p.ratio)))
    said = _(
        "half of the launches lie within {usual:.1%} of the median, the farthest one at {worst:+.0%} "
        "(launch {number}, {size})"
    )
    return said.format(usual=usual, worst=worst.ratio - 1, number=worst.launch, size=format_size(worst.size))


def _figure(
    name: str,
    colour: str,
    points: Sequence[Point],
    inside: dict[int, Interval],
    sizes: Sequence[int],
    margin: float,
) -> Figure:
    ordered = sorted(inside)
    bars = {
        "type": "scatter",
        "mode": "markers",
        "x": [size_position(s, sizes) for s in ordered],
        "y": [1] * len(ordered),
        "marker": {"color": f"{colour}/0", "size": 1},
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [significant(max(inside[s].high - 1, 0.0), 3) for s in ordered],
            "arrayminus": [significant(max(1 - inside[s].low, 0.0), 3) for s in ordered],
            "color": f"{colour}/22",
            "thickness": 7,
            "width": 0,
        },
        "hoverinfo": "skip",
    }
    shown = [p for size in ordered for p in _spread([p for p in points if p.size == size])]
    # What repeats from size to size stands in lists of its own, which deflate to little; so does the order of launches.
    dots = {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": [size_position(p.size, sizes) for p in shown],
        "y": [significant(p.ratio, 4 if p.ratio >= 1 else 3) for p in shown],
        "marker": {"color": f"{colour}/75", "size": 6, "symbol": "circle"},
        "text": [format_size(p.size) for p in shown],
        "customdata": [p.launch for p in shown],
        "hovertext": [format_time(p.seconds) for p in shown],
        "hovertemplate": hover_frame(
            name,
            "%{text}",
            _("launch {number}").format(number="%{customdata}"),
            _("{ratio} the usual time").format(ratio="%{y:.3f}×"),
        ),
    }
    return {
        "data": [*([bars] if any(i.low < i.high for i in inside.values()) else []), dots],
        "layout": layout(
            270,
            {"x": "size", "y": "gain"},
            sizes,
            xaxis=size_axis(sizes),
            yaxis=value_axis(_("time / usual")),
            shapes=same_gain_band(margin),
        ),
    }


def _spread(points: Sequence[Point]) -> list[Point]:
    """In order of launches: all of them, or `MOST` evenly over their times, the quickest and the slowest among them."""
    last = len(points) - 1
    drawn = points if last < MOST else [points[round(i * last / (MOST - 1))] for i in range(MOST)]
    return sorted(drawn, key=lambda p: p.launch)
