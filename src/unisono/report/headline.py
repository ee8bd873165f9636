"""The answer in a sentence: what to set, and what it brings."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from unisono.core.interval import Interval
from unisono.core.language import _, ngettext
from unisono.core.vocabulary import SIMULATED, Case, Setting
from unisono.decide.decision import Decision
from unisono.report.proof import Proven
from unisono.report.text import count, format_gain, format_ratio, join, short_setting
from unisono.report.view import chosen_plans, verdict
from unisono.tuning.plans import Plan

_NOISY = 1.6
"""High over low end of the typical interval from which on nothing can be said about being best."""
_ALL, _FIRST = 6, 3
"""Collectives that a sentence names: so many at most, or the first ones of more, and how many others there are."""


@dataclass(frozen=True, slots=True)
class Answer:
    """For one (nodes, ppn). `sentence` has no markup and no full stop, `whole` has; `proven` says whether `gains` come
    from a verification, `kept` whether nothing is set, so that the default is kept."""

    nodes: int
    ppn: int
    sentence: str
    gains: Mapping[str, Interval]
    proven: bool
    kept: bool = False

    @property
    def whole(self) -> str:
        return _("{sentence}.").format(sentence=self.sentence)


def answers(decision: Decision, proven: Mapping[Case, Proven], reproducible: str | None = None) -> list[Answer]:
    """One sentence per (nodes, ppn). Gains are the verification's where it has them for every collective of a plan.
    `reproducible`: what sums do not depend on, in every launch but the verification's of the default."""
    found = []
    for (nodes, ppn), plan in chosen_plans(decision).items():
        cases = {name: Case(name, nodes, ppn) for name in plan.gain}
        fresh = {name: proven[case].gain for name, case in cases.items() if case in proven and proven[case].launches}
        gains = fresh if fresh and len(fresh) == len(plan.gain) else dict(plan.gain)
        sums = reproducible if gains is fresh else None
        said = sentence(plan, gains, decision, sums)
        found.append(Answer(nodes, ppn, said, gains, gains is fresh, kept=not _what(plan) and sums is None))
    return found


def sentence(plan: Plan, gains: Mapping[str, Interval], decision: Decision, reproducible: str | None = None) -> str:
    """Such as "UCX_RNDV_THRESH=16kb with 14 algorithm rules makes allreduce 1.21× (1.15–1.28) as fast"."""
    what = _what(plan)
    if reproducible is not None:
        ours = _("our library with reproducible sums ({level})").format(level=reproducible)
        what = _("{what} and {ours}").format(what=what, ours=ours) if what else ours
    if not what:
        return _kept(plan, decision)
    faster = sorted((c for c in gains if verdict(gains[c]) == "faster"), key=lambda c: -gains[c].mid)
    slower = sorted((c for c in gains if verdict(gains[c]) == "slower"), key=lambda c: gains[c].mid)
    untold = sorted(c for c in gains if verdict(gains[c]) == "not told")
    same = sorted(set(gains) - set(faster) - set(slower) - set(untold))
    parts: list[str] = []
    several = (reproducible is not None and bool(_what(plan))) or (not plan.launch and rule_count(plan) > 1)

    def made(those: str, sentence: str, of_several: str) -> str:
        return (of_several if several else sentence).format(what=what, those=those)

    for changed in (faster, slower):  # of what is slower people read it as they do of what is faster
        if changed:
            those = _strengths(changed, gains)
            parts.append(
                _("{those} as fast").format(those=those)
                if parts
                else made(those, _("{what} makes {those} as fast"), _("{what} make {those} as fast"))
            )
    if not parts and (joint := plan.joint) is not None and gains == plan.gain and verdict(joint.gain) == "faster":
        together = _strength(_("{collectives} together").format(collectives=join(sorted(joint.weights))), joint.gain)
        return made(together, _("{what} makes {those} as fast"), _("{what} make {those} as fast"))
    if same:
        those = _names(same)
        parts.append(
            _("no difference for {those}").format(those=those)
            if parts
            else made(those, _("{what} makes no difference for {those}"), _("{what} make no difference for {those}"))
        )
    if untold:
        sentence = (
            _("too few launches to tell for {those}") if parts else _("{what}: too few launches to tell for {those}")
        )
        parts.append(sentence.format(what=what, those=_names(untold)))
    said, *rest = parts
    for part in rest:
        said = _("{first}; {second}").format(first=said, second=part)
    return said


def _kept(plan: Plan, decision: Decision) -> str:
    """Why nothing is set: nothing is better, or too little was measured to know."""
    compared: dict[Setting, int] = {}
    for estimate in decision.estimates:
        if (estimate.case.nodes, estimate.case.ppn) == (plan.nodes, plan.ppn) and not estimate.setting.is_default:
            compared[estimate.setting] = max(compared.get(estimate.setting, 0), estimate.launches)
    if decision.method == SIMULATED:
        return _("the default is the best choice: no other setting beats it by more than {margin:.0%}").format(
            margin=decision.margin
        )
    if max(compared.values(), default=0) < 2:
        return _("the default is kept: too few launches worked to know of anything better")
    if decision.never:
        return ngettext(
            "the default is kept: the budget ended before {count} launch setting was launched at all, "
            "so nothing is known about it",
            "the default is kept: the budget ended before {count} launch settings were launched at all, "
            "so nothing is known about them",
            len(decision.never),
        ).format(count=len(decision.never))
    spreads = [
        e.gain.high / e.gain.low if e.gain.low > 0 else math.inf for e in decision.estimates if e.setting in compared
    ]
    if statistics.median(spreads) > _NOISY:
        return _("the default is kept: the machine was too noisy, or launches too few, to be sure of anything better")
    others = sum(launches > 1 for launches in compared.values())
    said = (
        _("the default is kept: none of {others} other settings is sure to beat it by more than {margin:.0%}")
        if others > 1
        else _("the default is kept: the one other setting is not sure to beat it by more than {margin:.0%}")
    )
    return said.format(others=others, margin=decision.margin)


def _names(collectives: Sequence[str]) -> str:
    if len(collectives) <= _ALL:
        return join(collectives)
    others = len(collectives) - _FIRST
    return join([*collectives[:_FIRST], _("{others} others").format(others=others)])


def _strengths(collectives: Sequence[str], gains: Mapping[str, Interval]) -> str:
    if len(collectives) <= _ALL:
        return join(_strength(c, gains[c]) for c in collectives)
    rest = sorted(gains[c].mid for c in collectives[_FIRST:])
    least, most = format_ratio(rest[0]), format_ratio(rest[-1])
    others = _("{others} others {least}") if least == most else _("{others} others {least} to {most}")
    named = [_strength(c, gains[c]) for c in collectives[:_FIRST]]
    return join([*named, others.format(others=len(rest), least=least, most=most)])


def _strength(collective: str, gain: Interval) -> str:
    return f"{collective} {format_gain(gain)}"


def rule_count(plan: Plan) -> int:
    """Rules that change something."""
    return sum(1 for rule in plan.rules if rule.call)


def _what(plan: Plan) -> str:
    rules = count(rule_count(plan), "algorithm rule")
    if plan.needs_library:  # whoever reads the page need not know the parameter that brings it
        rest = {name: value for name, value in plan.launch.items() if name != "preload"}
        library = _("{rest} and Unisono's library").format(rest=short_setting(rest)) if rest else _("Unisono's library")
        return f"{library} ({rules})" if rule_count(plan) else library
    if plan.launch and rule_count(plan):
        return _("{launch} with {rules}").format(launch=short_setting(plan.launch), rules=rules)
    if plan.launch:
        return short_setting(plan.launch)
    return rules if rule_count(plan) else ""


def title(found: Sequence[Answer], simulated: str = "") -> str:
    """The page's headline: the one answer, or that there are several. `simulated`: the name of the platform."""
    if simulated and len(found) == 1:
        return _("Simulated on {name}: {sentence}.").format(name=simulated, sentence=found[0].sentence)
    if simulated and found:
        return _("Simulated on {name}: the best setting for each number of ranks.").format(name=simulated)
    if len(found) == 1:
        return _("On this machine, {sentence}.").format(sentence=found[0].sentence)
    if not found:
        return _("This study has no decision, because no measurement can be compared.")
    if all(answer.kept for answer in found):
        return _("On this machine, the default is kept, whatever the number of ranks.")
    best = max(((g.mid, c, a) for a in found for c, g in a.gains.items()), default=None, key=lambda x: x[0])
    if best is None or best[0] <= 1:
        return _("On this machine, the best setting depends on the ranks.")
    gain, collective, answer = best
    return _(
        "On this machine, tuning makes {collective} up to {gain} as fast ({ranks}); the best setting depends on the "
        "ranks."
    ).format(
        collective=collective,
        gain=format_ratio(gain),
        ranks=_("{nodes} × {ppn} ranks").format(nodes=answer.nodes, ppn=answer.ppn).replace(" ", "\u00a0"),
    )
