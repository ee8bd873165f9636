"""Studies against each other: time over message size of every study above, the gain over the reference below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from unisono.core.language import _
from unisono.core.sizes import format_size
from unisono.core.vocabulary import Case, Setting
from unisono.decide.compare import Comparison
from unisono.decide.differs import by_case
from unisono.decide.sides import Row
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
from unisono.report.figures_latency import LegendEntry
from unisono.report.palette import MARKERS, SERIES
from unisono.report.text import format_gain, format_time, short_setting

Curve = Mapping[int, tuple[float, Setting]]
"""Message size -> seconds, and the setting that takes them."""

_DASH = {"default": "dash", "best": "solid"}


def comparison_figure(comparison: Comparison, case: Case) -> tuple[Figure, list[LegendEntry]]:
    """The default of every study dashed, its best solid; one colour a study, the reference in the text's own."""
    rows = [row for row in comparison.rows if row.case == case]
    sizes = sorted({row.size for row in rows})
    data: list[dict[str, Any]] = []
    legend: list[LegendEntry] = []
    names = (comparison.reference, *comparison.others)
    for number, name in enumerate(names):
        colour = "@default" if number == 0 else "@chosen" if number == 1 else SERIES[(number - 2) % len(SERIES)]
        for kind in ("default", "best"):
            mine = sorted((r for r in rows if r.kind == kind and name in (r.other, comparison.reference)), key=_size)
            curve = _reference_curve(mine) if number == 0 else {r.size: (r.time, r.setting) for r in mine}
            if not curve:
                continue
            named = (_("{name}, default") if kind == "default" else _("{name}, best")).format(name=name)
            style = _Style(named, colour, _DASH[kind], MARKERS[number % len(MARKERS)])
            traces = style.time(data, curve, sizes)
            if number:
                traces += style.gain(data, mine, sizes, comparison.reference)
            legend.append(
                LegendEntry(style.name, style.name, "", colour, style.dash, style.symbol, tuple(traces), True, "always")
            )
    return {
        "data": data,
        "layout": layout(
            520,
            {"x": "size", "y": "time", "y2": "gain"},
            sizes,
            xaxis=size_axis(sizes, anchor="y2", showspikes=True, spikemode="across", spikethickness=1, spikedash="dot"),
            yaxis=value_axis(_("time"), domain=[0.46, 1]),
            yaxis2=value_axis(
                _("gain over {reference}").format(reference=label(comparison.reference)), domain=[0.0, 0.4]
            ),
            shapes=same_gain_band(comparison.margin, "y2"),
        ),
    }, legend


def _with(seconds: float, setting: Setting) -> str:
    return _("{time} with {setting}").format(time=format_time(seconds), setting=short_setting(setting))


def _setting(setting: Setting) -> str:
    """Whole."""
    return _("default") if setting.is_default else str(setting)


def _size(row: Row) -> int:
    return row.size


def _reference_curve(rows: Sequence[Row]) -> Curve:
    """The reference's own, wherever it was compared with anything."""
    return {row.size: (row.reference_time, row.reference_setting) for row in rows}


class _Style:
    """How one study's default, or best, is drawn in both panels."""

    def __init__(self, name: str, colour: str, dash: str, marker: str) -> None:
        self.name, self.colour, self.dash = name, colour, dash
        self.symbol = marker + ("-open" if dash != "solid" else "")

    def _line(self, x: Sequence[float], y: Sequence[float | None], texts: Sequence[str], axis: str) -> dict[str, Any]:
        return {
            "type": "scatter",
            "mode": "lines+markers",
            "name": label(self.name),
            "x": list(x),
            "y": list(y),
            "line": {"color": self.colour, "width": 2, "dash": self.dash},
            "marker": {"color": self.colour, "size": 7, "symbol": self.symbol},
            "hovertext": list(texts),
            "hovertemplate": hover_frame(self.name),
            "xaxis": "x",
            "yaxis": axis,
        }

    def time(self, data: list[dict[str, Any]], curve: Curve, sizes: Sequence[int]) -> list[int]:
        ordered = sorted(curve)
        texts = [hover_lines([format_size(s), format_time(curve[s][0]), _setting(curve[s][1])]) for s in ordered]
        x = [size_position(s, sizes) for s in ordered]
        data.append(self._line(x, [microseconds(curve[s][0]) for s in ordered], texts, "y"))
        return [len(data) - 1]

    def gain(self, data: list[dict[str, Any]], rows: Sequence[Row], sizes: Sequence[int], reference: str) -> list[int]:
        x = [size_position(row.size, sizes) for row in rows]
        texts = [
            hover_lines(
                [
                    format_size(row.size),
                    (
                        _("{gain} over {reference}")
                        if row.significant
                        else _("{gain} over {reference}, not significant")
                    ).format(gain=format_gain(row.gain), reference=reference),
                    _with(row.time, row.setting),
                    _with(row.reference_time, row.reference_setting),
                ]
            )
            for row in rows
        ]
        area = band(x, [row.gain for row in rows], self.colour, 12, time=False)
        line = self._line(x, [ratio(row.gain.mid) for row in rows], texts, "y2")
        first = len(data)
        data.extend([{**area, "xaxis": "x", "yaxis": "y2"}, line] if area else [line])
        return list(range(first, len(data)))


def rows_of(comparison: Comparison) -> dict[Case, dict[tuple[str, str], list[Row]]]:
    """Case -> (other, kind) -> its rows by size."""
    return by_case(comparison.rows)
