"""Gain over the default, settings x message sizes, one map a case: the whole study at a glance."""

from __future__ import annotations

import math

from unisono.model import Setting
from unisono.report.axes import Figure, hover_lines, label, layout
from unisono.report.text import count, format_gain, format_ratio, format_time, short_setting, significant
from unisono.report.view import CaseView
from unisono.sizes import format_size

_SATURATED = math.log2(2.0)
"""Colours are full at twice as fast and at half as fast."""

_ROW, _FRAME = 21, 54

COLOURSCALE = [
    [0.0, "@worse-deep"],
    [0.25, "@worse-mid"],
    [0.5, "@neutral"],
    [0.75, "@better-mid"],
    [1.0, "@better-deep"],
]


def gain_map(view: CaseView) -> Figure | None:
    """Best setting on top; a number in every cell whose difference is significant. None with nothing to compare."""
    settings = list(reversed(view.others))
    if not settings:
        return None
    used = {view.chosen_at(size) for size in view.sizes}
    return {
        "data": [
            {
                "type": "heatmap",
                "x": [_bytes(s) for s in view.sizes],
                "y": [_name(s, used) for s in settings],
                "z": [[_colour(view, s, size) for size in view.sizes] for s in settings],
                "text": [[_number(view, s, size) for size in view.sizes] for s in settings],
                "texttemplate": "%{text}",
                "textfont": {"size": 11},
                "hovertext": [[_text(view, s, size) for size in view.sizes] for s in settings],
                "hovertemplate": "<b>%{y}</b><br>%{x}<br>%{hovertext}<extra></extra>",
                "hoverongaps": False,
                "colorscale": COLOURSCALE,
                "zmin": -_SATURATED,
                "zmax": _SATURATED,
                "xgap": 1,
                "ygap": 1,
                "showscale": False,
            }
        ],
        "layout": layout(
            _FRAME + _ROW * len(settings),
            {"x": "category"},
            margin={"l": 56, "r": 16, "t": 10, "b": 8},
            xaxis={
                "type": "category",
                "tickfont": {"size": 11, "color": "@quiet"},
                "automargin": True,
                "showgrid": False,
                "side": "top",
                "tickangle": 0,
                "ticks": "",
                "title": {"text": "message size in bytes", "font": {"size": 12, "color": "@quiet"}, "standoff": 8},
            },
            yaxis={
                "type": "category",
                "tickfont": {"size": 11, "color": "@text"},
                "automargin": True,
                "showgrid": False,
                "ticks": "",
            },
        ),
    }


def _name(setting: Setting, used: set[Setting]) -> str:
    return ("▸ " if setting in used else "") + label(short_setting(setting)) + " "


def _bytes(size: int) -> str:
    """ "512", "4K", "1M": short enough for a column's head."""
    return format_size(size).removesuffix("iB").removesuffix("B").replace(" ", "")


def _colour(view: CaseView, setting: Setting, size: int) -> float | None:
    estimate = view.estimates[setting].get(size)
    if estimate is None or not (estimate.gain.mid > 0 and math.isfinite(estimate.gain.mid)):
        return None
    return significant(math.log2(estimate.gain.mid), 3)


def _number(view: CaseView, setting: Setting, size: int) -> str:
    estimate = view.estimates[setting].get(size)
    if estimate is None or not estimate.significant:
        return ""
    return format_ratio(estimate.gain.mid)[:-1]


def _text(view: CaseView, setting: Setting, size: int) -> str:
    estimate = view.estimates[setting].get(size)
    if estimate is None:
        return ""
    return hover_lines(
        [
            f"gain {format_gain(estimate.gain)}" + ("" if estimate.significant else ", not significant"),
            f"{format_time(estimate.time.mid)}, {count(estimate.launches, 'launch')}",
        ],
    )
