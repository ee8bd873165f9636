"""Latency over message size of one case, with the gain over the default below on the same axis.

The default, the chosen setting and the physical limit are always drawn; every other setting is there, hidden, and
comes with one press on its entry in the legend.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from unisono.core.language import _
from unisono.core.sizes import format_size
from unisono.core.vocabulary import CALL_SCOPE, Setting
from unisono.decide.decision import Estimate
from unisono.report.axes import (
    Figure,
    band,
    hover_frame,
    hover_lines,
    label,
    layout,
    microseconds,
    ratio,
    same_gain_band,
    size_axis,
    size_position,
    value_axis,
)
from unisono.report.palette import DASHES, MARKERS, SERIES
from unisono.report.proof import Proven
from unisono.report.text import (
    count,
    format_gain,
    format_interval,
    format_range,
    format_ratio,
    format_time,
    short_setting,
    significant,
)
from unisono.report.view import CaseView
from unisono.tuning.plans import Rule
from unisono.tuning.words import launch as launch_words


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """One line of the legend beside a figure: what it looks like, and which traces it shows or hides."""

    name: str
    full: str
    note: str
    colour: str
    dash: str
    marker: str
    traces: tuple[int, ...]
    shown: bool
    group: str = "other"
    """"always" or "other"."""


@dataclass(slots=True)
class _Drawing:
    view: CaseView
    data: list[dict[str, Any]] = field(default_factory=list)
    legend: list[LegendEntry] = field(default_factory=list)

    def curve(
        self,
        name: str,
        note: str,
        estimates: Sequence[Estimate],
        colour: str,
        dash: str,
        marker: str,
        *,
        width: float,
        shown: bool,
        opacity: int,
        group: str,
    ) -> None:
        x = [size_position(e.size, self.view.sizes) for e in estimates]
        full = self._full(estimates[0].setting) if group == "other" else name
        traces: list[int] = []
        first: int | None = None
        for axis, y, intervals in (
            ("y", [microseconds(e.time.mid) for e in estimates], [e.time for e in estimates]),
            ("y2", [ratio(e.gain.mid) for e in estimates], [e.gain for e in estimates]),
        ):
            area = (
                band(x, intervals, colour, opacity, time=axis == "y")
                if not (axis == "y2" and colour == "@default")
                else None
            )
            line: dict[str, Any] = {"y": y, "like": first}
            if first is None:
                line = {
                    "type": "scatter",
                    "mode": "lines+markers",
                    "name": label(name),
                    "x": x,
                    "y": y,
                    "line": {"color": colour, "width": width, "dash": dash},
                    "marker": {"color": colour, "size": 5 + width, "symbol": marker},
                    "hovertext": [self._text(e, each=group == "always") for e in estimates],
                    "hovertemplate": hover_frame(name, *([full] if full != name else [])),
                }
            for trace in (area, line):
                if trace is not None:
                    traces.append(len(self.data))
                    self.data.append({**trace, "xaxis": "x", "yaxis": axis, "visible": shown})
            first = traces[-1] if first is None else first
        self.legend.append(LegendEntry(name, full, note, colour, dash, marker, tuple(traces), shown, group))

    def _full(self, setting: Setting) -> str:
        """The whole setting; of several told by one measurement, what their launches differ in."""
        alike = self.view.stands_for.get(setting, (setting,))
        if len(alike) == 1:
            return str(setting)
        launches = "; ".join(launch_words(s.without(*CALL_SCOPE)) for s in alike)
        return _("{setting}, which is the same when launched with {launches}").format(
            setting=setting.only(*CALL_SCOPE), launches=launches
        )

    def _text(self, estimate: Estimate, *, each: bool) -> str:
        """`each`: the setting may differ from point to point, so the point names it."""
        counts = self.view.repetitions.get((estimate.size, estimate.setting))
        launches = count(estimate.launches, "launch")
        if counts is not None:
            launches = _("{launches}, {discarded:,} of {all:,} repetitions discarded").format(
                launches=launches, discarded=counts.discarded, all=counts.kept + counts.discarded
            )
        lines = [
            format_size(estimate.size),
            *([str(estimate.setting)] if each and not estimate.setting.is_default else []),
            f"{format_time(estimate.time.mid)} ({_times(estimate)})",
            *([] if estimate.setting.is_default else [_("gain {gain}").format(gain=format_gain(estimate.gain))]),
            launches,
        ]
        return hover_lines(lines)

    def limit(self) -> None:
        floors = self.view.floors
        if not floors:
            return
        sizes = sorted(floors)
        defaults = {e.size: e.time.mid for e in self.view.default}
        texts = []
        for size in sizes:
            lines = [format_size(size), format_time(floors[size])]
            if size in defaults:
                ratio_to = format_ratio(defaults[size] / floors[size])
                lines.append(_("the default takes {ratio} as long").format(ratio=ratio_to))
            texts.append(hover_lines(lines))
        bound = _(self.view.bound)
        self.legend.append(
            LegendEntry(
                bound,
                bound,
                _("measured on this machine"),
                "@limit",
                "dot",
                "",
                (len(self.data),),
                True,
                "always",
            )
        )
        self.data.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": bound,
                "x": [size_position(s, self.view.sizes) for s in sizes],
                "y": [microseconds(floors[s]) for s in sizes],
                "line": {"color": "@limit", "width": 2, "dash": "dot"},
                "fill": "tozeroy",
                "fillcolor": "@limit/7",
                "hovertext": texts,
                "hovertemplate": hover_frame(bound),
                "xaxis": "x",
                "yaxis": "y",
            }
        )

    def proven(self, proven: Proven) -> None:
        """The gain on fresh launches, size by size, beside what the study expected."""
        sizes = [p.size for p in proven.sizes]
        gains = [p.gain for p in proven.sizes]
        texts = [
            hover_lines(
                [
                    format_size(p.size),
                    _("gain {gain}").format(gain=format_gain(p.gain)),
                    _("{time}, {launches} each").format(
                        time=format_time(p.tuned), launches=count(proven.launches, "launch")
                    ),
                ]
            )
            for p in proven.sizes
        ]
        name = _("on fresh launches")
        note = format_gain(proven.gain)
        self.legend.append(
            LegendEntry(name, name, note, "@proof", "dot", "diamond-open", (len(self.data),), True, "always")
        )
        self.data.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": name,
                "x": [size_position(size, self.view.sizes) for size in sizes],
                "y": [ratio(gain.mid) for gain in gains],
                "error_y": {
                    "type": "data",
                    "symmetric": False,
                    "array": [_reach(gain.high, gain.mid) for gain in gains],
                    "arrayminus": [_reach(gain.mid, gain.low) for gain in gains],
                    "color": "@proof",
                    "thickness": 1,
                    "width": 3,
                },
                "line": {"color": "@proof", "width": 1, "dash": "dot"},
                "marker": {"color": "@proof", "size": 7, "symbol": "diamond-open"},
                "hovertext": texts,
                "hovertemplate": hover_frame(name),
                "xaxis": "x",
                "yaxis": "y2",
            }
        )


def _reach(high: float, low: float) -> float | None:
    """Length of an error bar; None (none drawn) where an end is not known."""
    return significant(high - low) if math.isfinite(high) and low > 0 else None


def _times(estimate: Estimate) -> str:
    time = estimate.time
    if not 0 < time.low <= time.high < float("inf"):
        return format_interval(time)
    return f"{format_time(time.low)} – {format_time(time.high)}"


def latency_figure(view: CaseView, margin: float, proven: Proven | None = None) -> tuple[Figure, list[LegendEntry]]:
    """Time above, gain below; the legend's entries name the traces they switch."""
    drawing = _Drawing(view)
    drawing.limit()
    if view.default:
        drawing.curve(
            _("default"),
            _("nothing set: today's state"),
            view.default,
            "@default",
            "dash",
            "circle-open",
            width=2,
            shown=True,
            opacity=12,
            group="always",
        )
    if view.chosen and not view.keeps_default:
        gain = view.gain
        drawing.curve(
            _("chosen"),
            format_gain(gain) if gain else "",
            view.chosen,
            "@chosen",
            "solid",
            "circle",
            width=2.5,
            shown=True,
            opacity=18,
            group="always",
        )
    if proven is not None and proven.sizes:
        drawing.proven(proven)
    for number, setting in enumerate(view.others):
        curve = view.estimates[setting]
        drawing.curve(
            view.name(setting),
            format_ratio(view.mean_gain(setting)),
            [curve[size] for size in sorted(curve)],
            SERIES[number % len(SERIES)],
            DASHES[number // len(SERIES) % len(DASHES)],
            MARKERS[number % len(MARKERS)],
            width=1.5,
            shown=False,
            opacity=10,
            group="other",
        )
    return {"data": drawing.data, "layout": _layout(view, margin)}, drawing.legend


def _layout(view: CaseView, margin: float) -> dict[str, Any]:
    shapes, texts = rule_strip(view)
    return layout(
        560,
        {"x": "size", "y": "time", "y2": "gain"},
        view.sizes,
        xaxis=size_axis(
            view.sizes,
            anchor="free",
            position=0,
            showspikes=True,
            spikemode="across",
            spikethickness=1,
            spikedash="dot",
            spikecolor="@quiet",
        ),
        yaxis=value_axis(_("time"), domain=[0.46, 1]),
        yaxis2=value_axis(_("gain over the default"), domain=[0.085 if shapes else 0.0, 0.40]),
        shapes=[*same_gain_band(margin, "y2"), *shapes],
        annotations=texts,
    )


def rule_strip(view: CaseView) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Which rule serves which sizes, as a strip along the foot of the figure; its words where they have room."""
    positions = [size_position(s, view.sizes) for s in view.sizes]
    if not positions or not any(rule.call for rule in view.rules):
        return [], []
    low, high = math.log10(positions[0]), math.log10(positions[-1])
    span = max(high - low, 1e-9)
    shapes: list[dict[str, Any]] = []
    texts: list[dict[str, Any]] = []
    for number, rule in enumerate(view.rules):
        x0, x1 = _extent(rule, view, low, high)
        if x1 <= x0:
            continue
        shapes.append(
            {
                "type": "rect",
                "xref": "x",
                "yref": "paper",
                "x0": 10**x0,
                "x1": 10**x1,
                "y0": 0.0,
                "y1": 0.05,
                "fillcolor": ("@chosen/16" if number % 2 else "@chosen/28") if rule.call else "@default/10",
                "line": {"width": 1, "color": "@page"},
            }
        )
        words = rule_words(rule)
        if words and (x1 - x0) / span > 0.0115 * len(words):
            texts.append(
                {
                    "xref": "x",
                    "yref": "paper",
                    "x": (x0 + x1) / 2,
                    "y": 0.025,
                    "text": label(words),
                    "showarrow": False,
                    "font": {"size": 11, "color": "@text"},
                    "yanchor": "middle",
                    "hovertext": label(f"{format_range(rule.first, rule.last)}: {words}"),
                }
            )
    return shapes, texts


def rule_words(rule: Rule) -> str:
    """What a rule does, in a word: "tuned/ring"; nothing where it leaves all as launched."""
    return short_setting(rule.call) if rule.call else ""


def _extent(rule: Rule, view: CaseView, low: float, high: float) -> tuple[float, float]:
    """Of a rule on the axis (log10): borders halfway between its outermost sizes and their neighbours."""

    def middle(a: int, b: int) -> float:
        return (math.log10(size_position(a, view.sizes)) + math.log10(size_position(b, view.sizes))) / 2

    inside = [s for s in view.sizes if s >= rule.first and (rule.last is None or s <= rule.last)]
    if not inside:
        return 0.0, 0.0
    start, end = view.sizes.index(inside[0]), view.sizes.index(inside[-1])
    left = middle(view.sizes[start - 1], view.sizes[start]) if start else low - 0.1
    right = middle(view.sizes[end], view.sizes[end + 1]) if end + 1 < len(view.sizes) else high + 0.1
    return left, right
