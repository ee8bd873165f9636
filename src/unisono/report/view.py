"""What is shown of one case: the chosen setting at each size, the default, all others in order of merit."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from unisono.core.interval import Interval
from unisono.core.language import N_
from unisono.core.vocabulary import CALL_SCOPE, DEFAULT, Case, Sample, Setting, as_measured
from unisono.decide.decision import Decision, Estimate
from unisono.decide.pool import apart, shared
from unisono.decide.sentences import TOO_VAGUE
from unisono.decide.table import size_weights, tables
from unisono.report.limit import floors
from unisono.report.text import count, short_setting
from unisono.study.data import StudyData
from unisono.tuning.plans import Plan, Rule

LIMIT, REFERENCE = N_("physical limit"), N_("reference")


@dataclass(frozen=True, slots=True)
class Repetitions:
    """Over all launches of one (size, setting)."""

    kept: int
    discarded: int


@dataclass(frozen=True)
class CaseView:
    """One case of a study with the plan chosen for its (nodes, ppn)."""

    case: Case
    plan: Plan
    sizes: tuple[int, ...]
    estimates: Mapping[Setting, Mapping[int, Estimate]]
    samples: Mapping[tuple[int, Setting], Sequence[Sample]]
    """(Message size, setting) -> all that was measured of it."""
    floors: Mapping[int, float]
    """Message size -> the physical limit in seconds; sizes without a known limit are left out."""
    apart: frozenset[Setting] = frozenset()
    """Launch settings under which our shared-memory algorithms were measured to take another time."""

    @cached_property
    def repetitions(self) -> dict[tuple[int, Setting], Repetitions]:
        return {
            key: Repetitions(sum(s.repetitions for s in samples), sum(s.discarded for s in samples))
            for key, samples in self.samples.items()
        }

    def launches_of(self, size: int, setting: Setting) -> list[Sample]:
        """One sample a launch, of the setting or of those it stands for."""
        alike = (setting, *self.stands_for.get(setting, ()))
        return list({s.launch: s for one in dict.fromkeys(alike) for s in self.samples.get((size, one), ())}.values())

    @property
    def rules(self) -> list[Rule]:
        return [rule for rule in self.plan.rules if rule.collective == self.case.collective]

    def chosen_at(self, size: int) -> Setting:
        """What the plan uses for messages of `size` bytes."""
        rule = self.plan.rule_at(self.case.collective, size)
        return as_measured(self.plan.launch) | (rule.call if rule else Setting())

    @property
    def chosen(self) -> list[Estimate]:
        """The chosen setting's estimates, by size; a size it was not measured at is left out."""
        return self.estimates_of(self.chosen_at)

    def estimates_of(self, setting_at: Callable[[int], Setting]) -> list[Estimate]:
        """Those of the setting for each size; a size it was not measured at is left out."""
        found = (self.estimates.get(setting_at(size), {}).get(size) for size in self.sizes)
        return [estimate for estimate in found if estimate is not None]

    @property
    def default(self) -> list[Estimate]:
        return [self.estimates[DEFAULT][size] for size in self.sizes if size in self.estimates.get(DEFAULT, {})]

    @property
    def keeps_default(self) -> bool:
        return all(self.chosen_at(size).is_default for size in self.sizes)

    @cached_property
    def stands_for(self) -> dict[Setting, tuple[Setting, ...]]:
        """Setting -> all that are told by its numbers, itself among them; the default is not among them.

        One of our shared-memory algorithms has one entry, not one a launch setting (decide/pool.py): the chosen one,
        else the one measured, else the simplest. A launch setting under which it was measured and takes another time
        keeps its own (`apart`).
        """
        used = {self.chosen_at(size) for size in self.sizes}
        measured = {setting for _, setting in self.samples}
        found: dict[Setting, tuple[Setting, ...]] = {}
        groups: dict[Setting, list[Setting]] = defaultdict(list)
        for setting in sorted(s for s in self.estimates if not s.is_default):
            key = shared(self.case, setting)
            if key is None:
                found[setting] = (setting,)
            else:
                groups[key].append(setting)
        for group in groups.values():
            first = min(
                group, key=lambda s: (s.without(*CALL_SCOPE) in self.apart, s not in used, s not in measured, s)
            )
            alike = [s for s in group if s == first or s.without(*CALL_SCOPE) not in self.apart]
            found[first] = tuple(alike)
            found |= {s: (s,) for s in group if s not in alike}
        return found

    @property
    def beaten(self) -> Estimate | None:
        """What was furthest below its physical limit, if anything was: that limit is then a mere reference."""
        below = [
            estimate
            for estimates in self.estimates.values()
            for size, estimate in estimates.items()
            if estimate.time.high < self.floors.get(size, 0.0)
        ]
        return min(below, key=lambda e: e.time.mid / self.floors[e.size], default=None)

    @property
    def bound(self) -> str:
        """What the limit is called."""
        return REFERENCE if self.beaten else LIMIT

    def name(self, setting: Setting) -> str:
        """The setting as a label: without what does not matter to it, and for how many launch settings it stands."""
        alike = self.stands_for.get(setting, ())
        if len(alike) < 2:
            return short_setting(setting)
        named = shared(self.case, setting)
        return f"{short_setting(setting if named is None else named)} ({count(len(alike), 'launch setting')})"

    @property
    def others(self) -> list[Setting]:
        """All but the default and what another stands for, best first."""
        return sorted(self.stands_for, key=lambda s: (-self.mean_gain(s), s))

    def mean_gain(self, setting: Setting) -> float:
        """Geometric mean over the sizes the setting was measured at, every doubling of the size counting alike."""
        curve = sorted(self.estimates[setting].items())
        weights = size_weights([size for size, _ in curve])
        known = [(w, e.gain.mid) for w, (_, e) in zip(weights, curve, strict=True) if 0 < e.gain.mid < math.inf]
        total = math.fsum(w for w, _ in known)
        return math.exp(math.fsum(w * math.log(g) for w, g in known) / total) if total else math.nan

    @property
    def gain(self) -> Interval | None:
        return self.plan.gain.get(self.case.collective)


def geometric_mean(values: Iterable[float]) -> float:
    usable = [v for v in values if v > 0 and math.isfinite(v)]
    return math.exp(math.fsum(map(math.log, usable)) / len(usable)) if usable else math.nan


def chosen_plans(decision: Decision) -> dict[tuple[int, int], Plan]:
    """(nodes, ppn) -> the plan the study chose: the first of its kind."""
    plans: dict[tuple[int, int], Plan] = {}
    for plan in decision.plans:
        plans.setdefault((plan.nodes, plan.ppn), plan)
    return dict(sorted(plans.items()))


def case_views(study: StudyData, decision: Decision) -> list[CaseView]:
    """Every decided case that has a plan, in order of (nodes, ppn), then of collective."""
    estimates: dict[Case, dict[Setting, dict[int, Estimate]]] = defaultdict(lambda: defaultdict(dict))
    for estimate in decision.estimates:
        estimates[estimate.case][estimate.setting][estimate.size] = estimate
    samples = _samples(study)
    measured = tables((s for s in study.samples if s.setting in estimates.get(s.case, {})), decision.statistic)
    views = []
    for (nodes, ppn), plan in chosen_plans(decision).items():
        for case in sorted(c for c in estimates if (c.nodes, c.ppn) == (nodes, ppn)):
            sizes = tuple(sorted({size for sizes in estimates[case].values() for size in sizes}))
            views.append(
                CaseView(
                    case=case,
                    plan=plan,
                    sizes=sizes,
                    estimates=estimates[case],
                    samples=samples.get(case, {}),
                    floors=floors(study, case, sizes),
                    apart=frozenset(apart(measured[case], decision.margin)) if case in measured else frozenset(),
                )
            )
    return views


def _samples(study: StudyData) -> dict[Case, dict[tuple[int, Setting], list[Sample]]]:
    found: dict[Case, dict[tuple[int, Setting], list[Sample]]] = defaultdict(lambda: defaultdict(list))
    for sample in study.samples:
        found[sample.case][sample.size, sample.setting].append(sample)
    return found


def verdict(gain: Interval, margin: float = 0.0) -> str:
    """ "faster", "slower", "no difference" or "not told": the interval must clear 1 and the middle the margin; one that
    reaches beyond TOO_VAGUE on either side tells nothing."""
    if gain.low > 1 and gain.mid >= 1 + margin:
        return "faster"
    if gain.high < 1 and gain.mid <= 1 / (1 + margin):
        return "slower"
    return "not told" if gain.low * TOO_VAGUE < 1 or gain.high > TOO_VAGUE else "no difference"


def bound_of(views: Iterable[CaseView]) -> str:
    """What the limits of several cases are called together."""
    return REFERENCE if any(view.bound == REFERENCE for view in views) else LIMIT


def of_shape(views: Sequence[CaseView], nodes: int, ppn: int) -> list[CaseView]:
    return [view for view in views if (view.case.nodes, view.case.ppn) == (nodes, ppn)]
