"""The chosen curve over message size against the pointwise best of everything that was measured: how much is left."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unisono.core.language import _
from unisono.core.sizes import format_size
from unisono.core.vocabulary import CALL_SCOPE, as_measured
from unisono.decide.decision import Estimate
from unisono.decide.table import size_weights
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
from unisono.report.palette import MARKERS, SERIES
from unisono.report.text import format_ratio, format_time, short_setting
from unisono.report.view import CaseView

GOAL = 1.05
"""The chosen curve should be no further from the best than this."""
_SHARE = 0.5
"""Of the default's launches a setting needs at a size to count there: of many that ran once the best is mostly luck."""


@dataclass(frozen=True, slots=True)
class Point:
    """One message size. `best` is the fastest of all settings measured often enough, the chosen one among them; `near`
    the fastest of those that the chosen launch setting can have."""

    size: int
    chosen: Estimate
    default: Estimate
    best: Estimate
    near: Estimate

    @property
    def left(self) -> float:
        """Chosen time / best time."""
        return self.chosen.time.mid / self.best.time.mid

    @property
    def of_default(self) -> float:
        return self.default.time.mid / self.best.time.mid


@dataclass(frozen=True)
class Envelope:
    """All sizes of one case."""

    view: CaseView
    points: tuple[Point, ...]

    @property
    def mean(self) -> float:
        """Geometric mean of chosen / best, every doubling of the size counting alike."""
        return _mean([p.size for p in self.points], [p.left for p in self.points])

    @property
    def default_mean(self) -> float:
        return _mean([p.size for p in self.points], [p.of_default for p in self.points])

    @property
    def near_mean(self) -> float:
        """The same against the best that the chosen launch setting can have."""
        return _mean([p.size for p in self.points], [p.chosen.time.mid / p.near.time.mid for p in self.points])

    @property
    def worst(self) -> Point:
        return max(self.points, key=lambda point: point.left)

    @property
    def within(self) -> int:
        """At how many sizes the chosen is within the goal."""
        return sum(point.left <= GOAL for point in self.points)

    def as_dict(self) -> dict[str, Any]:
        worst = self.worst
        return {
            "collective": self.view.case.collective,
            "nodes": self.view.case.nodes,
            "ppn": self.view.case.ppn,
            "chosen_to_best": self.mean,
            "chosen_to_best_of_launch": self.near_mean,
            "default_to_best": self.default_mean,
            "worst": worst.left,
            "worst_size": worst.size,
            "sizes": len(self.points),
            "within_goal": self.within,
        }


def envelope(view: CaseView) -> Envelope | None:
    """None where no size has both the chosen setting and the default."""
    chosen = {estimate.size: estimate for estimate in view.chosen}
    default = {estimate.size: estimate for estimate in view.default}
    launch = as_measured(view.plan.launch)
    inside = [curve for setting, curve in view.estimates.items() if setting.without(*CALL_SCOPE) == launch]
    points = []
    for size in view.sizes:
        if size in chosen and size in default and chosen[size].time.mid > 0:
            best = _best(view.estimates.values(), chosen[size], default[size])
            near = _best(inside, chosen[size], default[size])
            points.append(Point(size, chosen[size], default[size], best, near))
    return Envelope(view, tuple(points)) if points else None


def _best(curves: Iterable[Mapping[int, Estimate]], chosen: Estimate, default: Estimate) -> Estimate:
    enough = _SHARE * default.launches
    known = [curve[chosen.size] for curve in curves if chosen.size in curve]
    eligible = [e for e in known if e.launches >= enough and e.time.mid > 0]
    return min([chosen, *eligible], key=lambda estimate: estimate.time.mid)


def _mean(sizes: Sequence[int], ratios: Sequence[float]) -> float:
    weights = size_weights(sizes)
    return math.exp(math.fsum(w * math.log(r) for w, r in zip(weights, ratios, strict=True)) / float(sum(weights)))


def rows(found: Sequence[Envelope]) -> list[dict[str, Any]]:
    """For the table: one a case."""
    return [
        {
            "name": one.view.case.collective,
            "near": format_ratio(one.near_mean),
            "chosen": format_ratio(one.mean),
            "default": format_ratio(one.default_mean),
            "worst": format_ratio(one.worst.left),
            "where": format_size(one.worst.size),
            "by": short_setting(one.worst.best.setting) if one.worst.left > GOAL else "",
            "within": _("{count} of {total}").format(count=one.within, total=len(one.points)),
        }
        for one in found
    ]


def curve_name(collective: str, is_chosen: bool) -> str:
    """Of one collective's curve in a figure that has the default's beside the chosen one's."""
    return (_("{name}, chosen") if is_chosen else _("{name}, default")).format(name=collective)


def envelope_figure(found: Sequence[Envelope]) -> tuple[Figure, list[tuple[str, str, str]]] | None:
    """Time over the best's, by message size: chosen (solid) and default (dashed), per collective; and the legend:
    (collective, colour role, marker). None when there is nothing to draw."""
    if not found:
        return None
    sizes = sorted({point.size for one in found for point in one.points})
    data = []
    legend = []
    for number, one in enumerate(found):
        colour, marker = SERIES[number % len(SERIES)], MARKERS[number % len(MARKERS)]
        legend.append((one.view.case.collective, colour, marker))
        for is_chosen, values, dash, width in (
            (False, [p.of_default for p in one.points], "dash", 1.25),
            (True, [p.left for p in one.points], "solid", 2.25),
        ):
            full = curve_name(one.view.case.collective, is_chosen)
            data.append(
                {
                    "type": "scatter",
                    "mode": "lines+markers",
                    "name": label(full),
                    "x": [size_position(point.size, sizes) for point in one.points],
                    "y": [ratio(value) for value in values],
                    "line": {"color": colour, "width": width, "dash": dash},
                    "marker": {
                        "color": colour,
                        "size": 6 if is_chosen else 4,
                        "symbol": marker + ("" if is_chosen else "-open"),
                    },
                    "hovertext": [_text(point, is_chosen) for point in one.points],
                    "hovertemplate": hover_frame(full),
                }
            )
    line = limit_across(1)
    goal = {**line, "type": "rect", "y1": GOAL, "fillcolor": "@chosen/10", "line": {"width": 0}}
    return {
        "data": data,
        "layout": layout(
            340,
            {"x": "size", "y": "gain"},
            sizes,
            xaxis=size_axis(sizes),
            yaxis=value_axis(_("time / best of everything")),
            shapes=[goal, line],
        ),
    }, legend


def _text(point: Point, is_chosen: bool) -> str:
    mine, best = point.chosen if is_chosen else point.default, point.best
    lines = [
        format_size(point.size),
        _("{time} by {setting}").format(time=format_time(mine.time.mid), setting=short_setting(mine.setting)),
        _("best: {time} by {setting}").format(time=format_time(best.time.mid), setting=short_setting(best.setting)),
        _("{ratio} the best").format(ratio=format_ratio(mine.time.mid / best.time.mid)),
    ]
    return hover_lines(lines)
