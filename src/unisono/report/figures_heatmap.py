"""Gain over the default, settings x message sizes, one map a case: the whole study at a glance."""

from __future__ import annotations

import math

from unisono.core.language import _, listed
from unisono.core.sizes import format_size
from unisono.core.vocabulary import Setting
from unisono.decide.decision import Estimate
from unisono.report.axes import Figure, hover_lines, label, layout
from unisono.report.text import count, format_gain, format_ratio, format_time, significant
from unisono.report.view import CaseView

_SATURATED = math.log2(2.0)
"""Colours are full at twice as fast and at half as fast."""

_PALE = 0.3

_ROW, _FRAME = 21, 10

COLOURSCALE = [
    [0.0, "@worse-deep"],
    [0.25, "@worse-mid"],
    [0.5, "@neutral"],
    [0.75, "@better-mid"],
    [1.0, "@better-deep"],
]


def gain_map(view: CaseView) -> Figure | None:
    """Best setting on top. Significant differences in full colour with their number, the others pale.

    None with nothing to compare.
    """
    settings = list(reversed(view.others))
    if not settings:
        return None
    used = {view.chosen_at(size) for size in view.sizes}
    names = [_name(view, setting, used) for setting in settings]
    return {
        "data": [
            {
                "type": "heatmap",
                "name": _("significant") if sure else _("not significant"),
                "x": [_bytes(s) for s in view.sizes],
                "y": names,
                "z": [[_colour(view, s, size, sure) for size in view.sizes] for s in settings],
                "hovertext": [[_text(view, s, size, sure) for size in view.sizes] for s in settings],
                "hovertemplate": "<b>%{y}</b><br>%{x}<br>%{hovertext}<extra></extra>",
                "hoverongaps": False,
                "colorscale": COLOURSCALE,
                "zmin": -_SATURATED,
                "zmax": _SATURATED,
                "xgap": 1,
                "ygap": 1,
                "showscale": False,
                **(
                    {
                        "text": [[_number(view, s, size) for size in view.sizes] for s in settings],
                        "texttemplate": "%{text}",
                        "textfont": {"size": 11},
                    }
                    if sure
                    else {"opacity": _PALE}
                ),
            }
            for sure in (False, True)
        ],
        "layout": layout(
            _FRAME + _ROW * len(settings),
            {"x": "category"},
            margin={"l": 56, "r": 16, "t": 2, "b": 8},
            # The page puts the heads of the columns above the map, where they stay in view.
            xaxis={"type": "category", "showticklabels": False, "showgrid": False, "ticks": "", "fixedrange": True},
            yaxis={
                "type": "category",
                "tickfont": {"size": 11, "color": "@text"},
                "automargin": True,
                "showgrid": False,
                "ticks": "",
            },
        ),
    }


def _name(view: CaseView, setting: Setting, used: set[Setting]) -> str:
    chosen = not used.isdisjoint(view.stands_for[setting])
    return ("▸ " if chosen else "") + label(view.name(setting)) + " "


def _bytes(size: int) -> str:
    """ "512", "4K", "1M": short enough for a column's head."""
    return format_size(size).removesuffix("iB").removesuffix("B").replace(" ", "")


def _estimate(view: CaseView, setting: Setting, size: int, sure: bool) -> Estimate | None:
    """What a cell shows, if it belongs to this layer."""
    estimate = view.estimates[setting].get(size)
    if estimate is None or estimate.significant != sure or not 0 < estimate.gain.mid < math.inf:
        return None
    return estimate


def _colour(view: CaseView, setting: Setting, size: int, sure: bool) -> float | None:
    estimate = _estimate(view, setting, size, sure)
    return significant(math.log2(estimate.gain.mid), 3) if estimate else None


def _number(view: CaseView, setting: Setting, size: int) -> str:
    estimate = _estimate(view, setting, size, True)
    return format_ratio(estimate.gain.mid)[:-1] if estimate else ""


def _text(view: CaseView, setting: Setting, size: int, sure: bool) -> str:
    estimate = _estimate(view, setting, size, sure)
    if estimate is None:
        return ""
    return hover_lines(
        [
            (_("gain {gain}") if sure else _("gain {gain}, not significant")).format(gain=format_gain(estimate.gain)),
            listed([format_time(estimate.time.mid), count(estimate.launches, "launch")]),
        ]
    )
