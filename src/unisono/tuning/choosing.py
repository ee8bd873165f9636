"""Which plan to take, under a weighting of the collectives."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.core.vocabulary import PRELOAD
from unisono.tuning.plans import Plan

TIE = 0.01
"""Plans whose mean log gains differ by less are equally good; the simplest is taken."""
_NONE = 1e-9
"""Share of all weights below which nothing is left to weigh."""


def choose(plans: Sequence[Plan], weights: Mapping[str, float] | None = None, margin: float = 0.03) -> Plan:
    """The plan with the greatest weighted mean log gain, if it is sure to beat the default launch setting's.

    `weights`: collective -> how much it counts (none: all alike). The plan for the default launch setting is kept
    unless the lower bound of another's mean gain beats the mean gain of that plan (1 when it has no rules) by `margin`
    (see `mean_log`). A plan without a gain for a collective that counts is not eligible. Of plans as good as the best
    (within 1 %) the simplest is taken. Plans that are predicted have been weighed against the default call by call, and
    their intervals are wide: the one with the greatest gain to expect is taken. Raises UserError without a plan for the
    default launch setting, or when no weight counts.
    """
    default = next((plan for plan in plans if not plan.launch), None)
    predicted = bool(plans) and all(plan.predicted for plan in plans)
    if default is None and not predicted:
        raise UserError(
            _("there is no plan for the default launch setting to compare with; a study always measures it")
        )
    named = dict.fromkeys((default or plans[0]).gain, 1.0)
    counted = {name: weight for name, weight in (weights or named).items() if weight > 0}
    if not counted:
        raise UserError(_("weights: all are 0, so nothing would count"))
    if default is None or predicted:
        return max(plans, key=lambda plan: mean_log(plan, counted, "mid"))
    mark = hurdle(default, counted, margin)
    sure = [plan for plan in plans if mean_log(plan, counted, "low") > mark]
    if not sure:
        return default
    best = max(mean_log(plan, counted, "mid") for plan in sure)
    good = [plan for plan in sure if mean_log(plan, counted, "mid") >= best - TIE]
    return min(good, key=lambda plan: (len(plan.launch), -mean_log(plan, counted, "mid")))


def mean_log(plan: Plan, weights: Mapping[str, float], end: str) -> float:
    """Weighted mean of the log gains' "mid" or "low"; minus infinity when a collective lacks or nothing is known.

    The joint gain of the plan, when it has one, stands for as much of the weighting as is like that it was made for:
    all of it, when the weights are the study's. For the rest the collectives' own bounds are averaged, which is wide
    but needs no more than them: a mean of bounds bounds the mean.
    """
    if any(name not in plan.gain for name in weights):
        return -math.inf
    total = sum(weights.values())
    rest = dict(weights)
    result = 0.0
    if plan.joint is not None:
        like = min(weights.get(name, 0.0) / weight for name, weight in plan.joint.weights.items() if weight > 0)
        if like > 0:
            alike = {name: like * weight for name, weight in plan.joint.weights.items()}
            rest = {name: weight - alike.get(name, 0.0) for name, weight in weights.items()}
            result = sum(alike.values()) * _log(getattr(plan.joint.gain, end))
    for name, weight in rest.items():
        if weight > _NONE * total:
            result += weight * _log(getattr(plan.gain[name], end))
    return result / total


def hurdle(default: Plan, weights: Mapping[str, float], margin: float) -> float:
    """What the lower bound of a plan's mean log gain must beat for it to be chosen."""
    return math.log1p(margin) + max(mean_log(default, weights, "mid"), 0.0)


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf


def worthwhile(plans: Sequence[Plan], margin: float) -> list[Plan]:
    """The default's plan and every plan some weighting could choose: proven for a collective or for all together, and
    not beaten in all.

    A plan is beaten when another, as simple or simpler, gains at least as much in every collective and is proven
    wherever it is. One that does without our library is beaten by others without only.
    """
    kept = [plan for plan in plans if not plan.launch]
    goals = [{name: 1.0} for plan in kept for name in plan.gain]
    goals += [dict(plan.joint.weights) for plan in kept if plan.joint is not None]
    marks = [max(hurdle(default, goal, margin) for default in kept) for goal in goals]
    proven = {
        plan.launch: {n for n, goal in enumerate(goals) if mean_log(plan, goal, "low") > marks[n]} for plan in plans
    }
    rest = [plan for plan in plans if plan.launch and proven[plan.launch]]
    for plan in rest:
        rivals = [
            other for other in [*rest, *kept] if other is not plan and proven[other.launch] >= proven[plan.launch]
        ]
        if not any(_beats(other, plan) for other in rivals):
            kept.append(plan)
    return kept


def _beats(other: Plan, plan: Plan) -> bool:
    if set(other.gain) != set(plan.gain) or len(other.launch) > len(plan.launch):
        return False
    if PRELOAD in other.launch and PRELOAD not in plan.launch:
        return False  # without our library the other is no choice
    pairs = [(other.gain[name].mid, plan.gain[name].mid) for name in plan.gain]
    better = any(a > b for a, b in pairs) or len(other.launch) < len(plan.launch) or other.launch < plan.launch
    return better and all(a >= b for a, b in pairs)


def ordered(plans: Sequence[Plan], weights: Mapping[str, float], margin: float) -> list[Plan]:
    """The chosen plan first, then by weighted mean log gain; plans without a gain that counts last."""

    first = choose(plans, weights, margin)
    rest = sorted((p for p in plans if p is not first), key=lambda p: (-mean_log(p, weights, "mid"), p.launch))
    return [first, *rest]
