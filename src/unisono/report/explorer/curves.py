"""The tuning's curve for every collective and communicator of a profile: what the page draws under the sizes.

With a study: seconds over message size, by default and as the tuning has it. With a tuning alone: gains, one a rule.
The tuning's plan is the one chosen for the collective alone; where the shape was not measured, the nearest answers
and says so.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from unisono.core.errors import UserError
from unisono.core.interval import Interval
from unisono.core.language import _
from unisono.core.vocabulary import Case, Setting, as_measured, blocking
from unisono.decide.decision import Estimate
from unisono.profile.recorded import NO_FUNCTION, UNKNOWN, Profile, measured_as
from unisono.report.text import short_setting, significant
from unisono.report.view import CaseView
from unisono.tuning.choice import Lookup, lookup
from unisono.tuning.contents import Tuning
from unisono.tuning.plans import Plan

Curve = dict[str, Any]


def collectives_used(profile: Profile) -> Iterator[tuple[str, int]]:
    """(collective, index of the communicator) that occur, the communicator of known shape."""
    pairs = np.unique(profile.cells[["function", "comm"]])
    found: dict[tuple[str, int], None] = {}
    for pair in pairs:
        function, comm = int(pair["function"]), int(pair["comm"])
        if function == NO_FUNCTION or comm == UNKNOWN:
            continue
        collective = measured_as(profile.functions[function])
        if collective is not None and blocking(collective) != "barrier" and profile.comms[comm].ppn > 0:
            found[collective, comm] = None
    return iter(found)


def curves(profile: Profile, tuning: Tuning, views: Mapping[Case, CaseView] | None = None) -> list[Curve]:
    """One for every collective and communicator that the tuning knows. `views` are the study's cases."""
    drawn = []
    for collective, comm in collectives_used(profile):
        shape = profile.comms[comm]
        try:
            found = lookup(tuning, collective, shape.nodes, shape.ppn, 0)
        except UserError:  # not measured: there is nothing to draw
            continue
        drawn.append(_curve(found, comm, (shape.nodes, shape.ppn), tuning, (views or {})))
    return drawn


def _curve(found: Lookup, comm: int, shape: tuple[int, int], tuning: Tuning, views: Mapping[Case, CaseView]) -> Curve:
    plan, measured = found.plan, (found.plan.nodes, found.plan.ppn)
    note = ""
    if measured != shape:
        note = _(
            "{nodes} x {ppn} ranks were not measured; this is {near_nodes} x {near_ppn}, the nearest that was"
        ).format(nodes=shape[0], ppn=shape[1], near_nodes=measured[0], near_ppn=measured[1])
    curve: Curve = {
        "collective": found.collective,
        "comm": comm,
        "title": _("{collective} on {nodes} x {ppn} ranks").format(
            collective=found.collective, nodes=measured[0], ppn=measured[1]
        ),
        "note": note,
        "launch": short_setting(plan.launch) if plan.launch else "",
        "from": tuning.name,
        "rules": [
            {
                "first": rule.first,
                "last": rule.last,
                "gain": _interval(rule.gain),
                "setting": short_setting(as_measured(plan.launch) | rule.call),
                "sizes": list(rule.sizes),
            }
            for rule in sorted(plan.rules_for(found.collective), key=lambda rule: rule.first)
        ],
    }
    view = views.get(Case(found.collective, *measured))
    if view is not None:
        curve |= _times(view, plan)
    return curve


def _times(view: CaseView, plan: Plan) -> Curve:
    """Sizes where both the default and the tuned setting were measured; nothing when there is none."""

    def setting_at(size: int) -> Setting:
        rule = plan.rule_at(view.case.collective, size)
        return as_measured(plan.launch) | (rule.call if rule is not None else Setting())

    tuned = {estimate.size: estimate for estimate in view.estimates_of(setting_at)}
    both = [(default, tuned[default.size]) for default in view.default if default.size in tuned]
    if not both:
        return {}
    return {
        "sizes": [default.size for default, _chosen in both],
        "default": [_seconds(default) for default, _chosen in both],
        "tuned": [_seconds(chosen) for _default, chosen in both],
        "gain": [_interval(chosen.gain) for _default, chosen in both],
        "setting": [short_setting(chosen.setting) for _default, chosen in both],
    }


def _seconds(estimate: Estimate) -> list[float | None]:
    return _interval(estimate.time)


def _interval(interval: Interval) -> list[float | None]:
    """Middle, low, high; None for an end that is not known."""
    ends = (interval.low, interval.high)
    return [significant(interval.mid), *(significant(end) if math.isfinite(end) and end > 0 else None for end in ends)]
