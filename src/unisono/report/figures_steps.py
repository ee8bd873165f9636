"""The figures of the selection in steps (documents 000 and 001): curves of one parameter's values, all else fixed.

A classic study brings its own steps. For a race the same form is built from the estimates: one panel a parameter, with
the others at what was chosen.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from unisono.core.errors import UserError
from unisono.core.interval import Interval
from unisono.core.language import N_, _
from unisono.core.sizes import format_size, parse_size
from unisono.core.vocabulary import CALL_SCOPE, DEFAULT, NATIVE, Setting, as_measured
from unisono.decide.decision import Decision, Estimate, Step
from unisono.report.axes import (
    Figure,
    hover_frame,
    hover_lines,
    label,
    layout,
    line_across,
    microseconds,
    ratio,
    size_axis,
    size_position,
    value_axis,
)
from unisono.report.palette import DASHES, MARKERS, SERIES, ordered_colours
from unisono.report.text import format_ratio, format_time, join, short_setting, significant
from unisono.report.view import CaseView

NOT_SET = N_("not set")

Curves = Mapping[str, Mapping[int, float]]


@dataclass(frozen=True, slots=True)
class Value:
    """How one value of the compared parameter is drawn, the same in all panels of its step."""

    name: str
    colour: str
    dash: str
    marker: str


@dataclass(frozen=True, slots=True)
class Panel:
    title: str
    note: str
    figure: Figure


@dataclass(frozen=True, slots=True)
class StepFigures:
    title: str
    explanation: str
    reference: str
    values: list[Value]
    panels: list[Panel]

    @property
    def keys(self) -> list[Value]:
        """The values as a legend names them."""
        return [replace(value, name=value_words(value.name)) for value in self.values]

    @property
    def alone(self) -> bool:
        """One panel: small enough to stand beside others."""
        return len(self.panels) == 1


@dataclass(frozen=True, slots=True)
class _Comparison:
    """One panel's content: `fixed` is what all its curves have in common."""

    fixed: Setting
    chosen: str
    significant: bool | None
    curves: Curves
    intervals: Mapping[str, Mapping[int, Interval]]
    """Of the times, as far as the study knows them."""


def step_figures(view: CaseView, decision: Decision) -> list[StepFigures]:
    """The steps of one case, in order; empty when no parameter was measured with two values."""
    steps = [step for step in decision.steps if step.case == view.case]
    if not steps:
        return [
            _figures(view, None, name, [found]) for name in _parameters(view) if (found := _race_comparison(view, name))
        ]
    numbers = list(dict.fromkeys((step.number, step.compared) for step in sorted(steps, key=lambda s: s.number)))
    return [
        _figures(
            view,
            number,
            compared,
            [
                _Comparison(s.fixed, s.chosen, s.significant, s.curves, _intervals(view, s))
                for s in steps
                if (s.number, s.compared) == (number, compared)
            ],
        )
        for number, compared in numbers
    ]


def _intervals(view: CaseView, step: Step) -> dict[str, dict[int, Interval]]:
    """Of the times a step compares."""
    settings = {
        value: step.fixed if value in (NOT_SET, "", "default") else step.fixed | {step.compared: value}
        for value in step.curves
    }
    return {v: {size: e.time for size, e in view.estimates.get(s, {}).items()} for v, s in settings.items()}


def _parameters(view: CaseView) -> list[str]:
    """Launch-scope parameters first, as Oracle's guides do, then component and algorithm."""
    names = {name for setting in view.estimates for name in setting}
    launch = sorted(names - set(CALL_SCOPE), key=lambda n: (n != "UCX_RNDV_THRESH", n == "placement", n))
    return launch + [name for name in ("coll", "algorithm", "segment") if name in names]


def _race_comparison(view: CaseView, name: str) -> _Comparison | None:
    """The values of one parameter with the others at the chosen plan's, else at the default's."""
    for base in dict.fromkeys((as_measured(view.plan.launch), DEFAULT)):
        fixed = base.without(name)
        if name == "algorithm":
            native = [s["coll"] for s in view.estimates if "algorithm" in s and s.get("coll") in NATIVE]
            fixed = fixed | {"coll": native[0] if native else NATIVE[0]}
        found: dict[str, Mapping[int, Estimate]] = {}
        for setting, estimates in view.estimates.items():
            if setting.without(name) == fixed and not (name == "coll" and "algorithm" in setting):
                value = setting.get(name, NOT_SET)
                found[value] = estimates
        if name == "algorithm" and base in view.estimates:
            found.setdefault(NOT_SET, view.estimates[base])
        if len(found) > 1:
            chosen = view.plan.launch.get(name, NOT_SET) if name not in CALL_SCOPE else ""
            curves = {value: {size: e.time.mid for size, e in sorted(these.items())} for value, these in found.items()}
            times = {value: {size: e.time for size, e in these.items()} for value, these in found.items()}
            return _Comparison(fixed, chosen, None, curves, times)
    return None


_TITLES = {
    "UCX_RNDV_THRESH": N_("Rendezvous thresholds compared"),
    "placement": N_("Placements compared"),
    "coll": N_("Components compared"),
    "component": N_("Components compared"),
    "algorithm": N_("Algorithms of the MPI compared"),
    "segment": N_("Segment sizes compared"),
}


def _figures(view: CaseView, number: int | None, compared: str, comparisons: Sequence[_Comparison]) -> StepFigures:
    values = _values(comparisons)
    reference = _reference([v.name for v in values])
    drawn = [
        Panel(
            title=_panel_title(comparison.fixed, comparisons),
            note=_panel_note(comparison),
            figure=_panel(comparison, values, view.sizes, compared, reference),
        )
        for comparison in sorted(comparisons, key=lambda c: c.fixed)
    ]
    what = _TITLES.get(compared)
    title = _(what) if what else _("{parameter} compared").format(parameter=compared)
    return StepFigures(
        title=_("Step {number}. {title}").format(number=number, title=title) if number else title,
        explanation=_explanation(compared, comparisons),
        reference=reference,
        values=values,
        panels=drawn,
    )


def _explanation(compared: str, comparisons: Sequence[_Comparison]) -> str:
    common = _common(c.fixed for c in comparisons)
    varying = join(_varying(comparisons))
    if common and varying:
        sentence = _("{parameter}, with {common} fixed; one panel for each {varying}")
    elif varying:
        sentence = _("{parameter}; one panel for each {varying}")
    elif common:
        sentence = _("{parameter}, with {common} fixed")
    else:
        sentence = _("{parameter}, all else as by default")
    return sentence.format(parameter=compared, common=common, varying=varying)


def _varying(comparisons: Sequence[_Comparison]) -> list[str]:
    """The parameters in which the panels differ."""
    common = _common(c.fixed for c in comparisons)
    return sorted({name for c in comparisons for name in c.fixed} - set(common))


def _panel_note(comparison: _Comparison) -> str:
    if not comparison.chosen:
        return ""
    sentence = (
        _("chosen: {value}, no significant difference") if comparison.significant is False else _("chosen: {value}")
    )
    return sentence.format(value=value_words(comparison.chosen))


def _common(settings: Iterable[Setting]) -> Setting:
    all_of = [dict(s) for s in settings]
    first = all_of[0] if all_of else {}
    return Setting({name: value for name, value in first.items() if all(s.get(name) == value for s in all_of)})


def value_words(value: str) -> str:
    """A value as it is named in a legend: "16kb", "not set"."""
    return _(value) if value in (NOT_SET, "default") else value


def _panel_title(fixed: Setting, comparisons: Sequence[_Comparison]) -> str:
    """What tells this panel from its neighbours."""
    if len(comparisons) == 1:
        return short_setting(fixed) if fixed else _("all else as by default")
    return ", ".join(
        f"{name}={fixed[name]}" if name in fixed else f"{name} {_(NOT_SET)}" for name in _varying(comparisons)
    )


def _order(value: str) -> tuple[int, float, str]:
    """Not set first, then sizes and numbers by what they count, then names."""
    if value in (NOT_SET, "", "default"):
        return 0, 0.0, value
    if value == "auto":
        return 1, 0.0, value
    if (size := _as_size(value)) is not None:
        return 2, float(size), value
    return 3, 0.0, value


def _as_size(value: str) -> int | None:
    found = re.fullmatch(r"(?:intra:)?(\d+[a-z]*).*", value.lower())
    if found is None:
        return None
    try:
        return parse_size(found[1])
    except UserError:
        return None


def _values(comparisons: Sequence[_Comparison]) -> list[Value]:
    names = sorted({name for c in comparisons for name in c.curves}, key=_order)
    ordered = [n for n in names if _order(n)[0] == 2]
    ramp = dict(zip(ordered, ordered_colours(len(ordered)), strict=True)) if len(ordered) > 2 else {}
    values = []
    series = 0
    for number, name in enumerate(names):
        if _order(name)[0] < 2:
            values.append(Value(name, "@default", "dash", "circle-open" if _order(name)[0] == 0 else "square-open"))
            continue
        colour = ramp.get(name)
        if colour is None:
            colour, series = SERIES[series % len(SERIES)], series + 1
        values.append(
            Value(
                name,
                colour,
                DASHES[number // len(SERIES) % len(DASHES)],
                MARKERS[number % len(MARKERS)],
            )
        )
    return values


def _reference(names: Sequence[str]) -> str:
    """The value the others are compared with: nothing set, else automatic, else the first."""
    return next((n for n in names if _order(n)[0] < 2), names[0])


def _panel(
    comparison: _Comparison, values: Sequence[Value], sizes: Sequence[int], compared: str, reference: str
) -> Figure:
    """Every value's curve, as gain over the reference and as time; the chosen one is drawn strongest."""
    curves = comparison.curves
    base = curves.get(reference) or next(iter(curves.values()))
    data: list[dict[str, Any]] = []
    gains: list[list[float | None]] = []
    times: list[list[float | None]] = []
    errors: dict[str, list[dict[str, Any]]] = {"gain": [], "time": []}
    for value in (v for v in values if curves.get(v.name)):
        curve = curves[value.name]
        ordered = sorted(curve)
        strong = value.name == comparison.chosen
        gains.append([ratio(base[s] / curve[s]) if s in base and curve[s] > 0 else None for s in ordered])
        times.append([microseconds(curve[s]) for s in ordered])
        known = comparison.intervals.get(value.name, {})
        errors["time"].append(_errors([curve[s] * 1e6 for s in ordered], [_scaled(known.get(s)) for s in ordered]))
        over = [base.get(s) if value.name != reference else None for s in ordered]
        errors["gain"].append(
            _errors(
                [b / curve[s] if b else 0.0 for s, b in zip(ordered, over, strict=True)],
                [_over(b, known.get(s)) for s, b in zip(ordered, over, strict=True)],
            )
        )
        data.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": label(value_words(value.name)),
                "x": [size_position(s, sizes) for s in ordered],
                "line": {"color": value.colour, "width": 2.75 if strong else 1.4, "dash": value.dash},
                "marker": {"color": value.colour, "size": 6.5 if strong else 5, "symbol": value.marker},
                "error_y": {
                    "type": "data",
                    "symmetric": False,
                    "color": f"{value.colour}/55",
                    "thickness": 1,
                    "width": 2,
                },
                "hovertext": [
                    _text(s, curve[s], base.get(s), "" if value.name == reference else reference) for s in ordered
                ],
                "hovertemplate": hover_frame(
                    f"{compared} {_(NOT_SET)}" if value.name == NOT_SET else f"{compared}={value.name}"
                ),
            }
        )
    common = layout(
        270,
        {"x": "size", "y": "gain"},
        sizes,
        xaxis=size_axis(sizes),
        yaxis=value_axis(_("gain over {reference}").format(reference=label(value_words(reference)))),
    )
    return {
        "data": data,
        "layout": common,
        "views": {
            "gain": {"y": gains, "error": errors["gain"], "layout": {"shapes": [line_across(1)]}},
            "time": {
                "y": times,
                "error": errors["time"],
                "layout": {
                    "yaxis": value_axis(_("time")),
                    "meta": {**common["meta"], "axes": {"x": "size", "y": "time"}},
                },
            },
        },
    }


def _scaled(time: Interval | None) -> Interval | None:
    """In microseconds; None where an end is not known."""
    if time is None or not 0 < time.low <= time.high < math.inf:
        return None
    return Interval(time.mid * 1e6, time.low * 1e6, time.high * 1e6)


def _over(base: float | None, time: Interval | None) -> Interval | None:
    """`base` seconds over that time: the interval of the time alone."""
    micro = _scaled(time)
    return Interval(*(base * 1e6 / end for end in (micro.mid, micro.high, micro.low))) if base and micro else None


def _errors(values: Sequence[float], intervals: Sequence[Interval | None]) -> dict[str, list[float | None]]:
    """How far the intervals reach above and below their curve; nothing where none is known."""
    pairs = list(zip(values, intervals, strict=True))
    return {
        "array": [significant(max(i.high - v, 0.0), 3) if i else None for v, i in pairs],
        "arrayminus": [significant(max(v - i.low, 0.0), 3) if i else None for v, i in pairs],
    }


def _text(size: int, seconds: float, base: float | None, reference: str) -> str:
    lines = [format_size(size), format_time(seconds)]
    if base is not None and reference and seconds > 0:
        said = _("{gain} over {reference}")
        lines.append(said.format(gain=format_ratio(base / seconds), reference=value_words(reference)))
    return hover_lines(lines)
