"""What is still in doubt, given all samples so far: the pure half of the race (the search launches and measures).

All settings start on a few message sizes. After every round this says what the next one should measure. What it costs
to be wrong decides, not significance: a contender is given up when what could be gained by knowing it better (its
expected improvement over the best so far, given how uncertain both are) is below a sixth of the margin. What is far
behind thus goes after one launch; what is close gets more launches, until differences within the margin count as
ties. Noise that was not seen yet is assumed (`contenders.PRIOR`): one launch settles what is some 1.5x behind, no less.

- A *launch part* survives while a plan with it could win the joint choice or that of a single collective, or has won
  but is not yet proven. The default launch setting always survives.
- An *algorithm* is measured at a size while it could be the best there or at a neighbouring size.
- *Our own algorithms* that keep to shared memory are measured in the simplest launches and in the leading ones only:
  what they take there holds for all (unisono.decide.pool).
- *Sizes* are added half-way between neighbours where the best choice changes, and where they are far apart; and one
  beside the first or last, which the study need not have, where an algorithm wins there beyond doubt, but alone.

Settled means: deciding now and after more launches would give the same, or differ by less than matters.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from unisono.core.language import N_
from unisono.core.vocabulary import CALL_SCOPE, DEFAULT, Case, Sample, Setting, launch_part
from unisono.decide.contenders import PRIOR, Contenders, expected_improvement
from unisono.decide.disqualify import NO_FAULT, Disqualified, disqualify
from unisono.decide.joint import counted, joined
from unisono.decide.plans import assemble, launches_of
from unisono.decide.pool import elsewhere, pooled
from unisono.decide.table import Table, tables
from unisono.study.data import LaunchRow, Refusal
from unisono.tuning.choosing import hurdle, mean_log
from unisono.tuning.plans import Plan

_APART = 32
"""Factor between neighbours of the first sizes: five doublings. Only a grid coarser than doublings would have more."""

Wanted = dict[Case, dict[int, tuple[Setting, ...]]]


@dataclass(frozen=True)
class RaceConfig:
    """What there is to race."""

    settings: Mapping[Case, Sequence[Setting]]
    """Case -> all settings, launch and call scope together; the default need not be named."""
    sizes: Mapping[Case, Sequence[int]]
    """Case -> all message sizes that may be measured, ascending."""
    asked: Collection[tuple[Case, int]] = ()
    """What earlier rounds asked for. A size beside a lone winner is not asked for again: where it brought nothing, it
    cannot be measured (too little memory, a call that hangs), and would be in doubt for ever."""
    scope: Sequence[str] = CALL_SCOPE
    """The call-scope parameters that are switched inside launches."""
    weights: Mapping[str, float] = field(default_factory=dict)
    margin: float = 0.03
    confidence: float = 0.95
    ties_after: int = 5
    """From so many launches on, a difference within the margin is a tie."""
    most_launches: int = 10
    """Nothing gets more launches than this."""

    @property
    def tolerance(self) -> float:
        """Expected improvement (log) that is not worth another launch."""
        return math.log1p(self.margin) / 6


@dataclass(frozen=True)
class RaceState:
    wanted: Mapping[Case, Mapping[int, tuple[Setting, ...]]]
    """What the next round should measure: case -> size -> settings (launch and call part), the default among them."""
    launches: Mapping[tuple[int, int], tuple[Setting, ...]]
    """(nodes, ppn) -> the launch parts that the next round needs, the default's first."""
    settled: bool
    doubts: tuple[str, ...]
    """What keeps it open, in words."""

    def items(
        self, launch: Setting, nodes: int, ppn: int, scope: Sequence[str] = CALL_SCOPE
    ) -> list[tuple[Case, int, list[Setting]]]:
        """What one launch of the next round should measure: (case, size, settings)."""
        found = []
        for case, sizes in self.wanted.items():
            if (case.nodes, case.ppn) == (nodes, ppn):
                for size, settings in sizes.items():
                    mine = [setting for setting in settings if launch_part(setting, scope) == launch]
                    if mine:
                        found.append((case, size, mine))
        return found


def first_sizes(sizes: Sequence[int]) -> list[int]:
    """The sizes to begin with: a quarter of them and one, evenly spread, both ends included.

    Where that leaves neighbours farther than `_APART` from each other, more: what is best in between is not seen.
    """
    count = min(len(sizes), max(3, round(len(sizes) / 4) + 1))
    if count < 2:
        return list(sizes)
    first = [round(index * (len(sizes) - 1) / (count - 1)) for index in range(count)]
    for left, right in pairwise(first.copy()):
        at = left
        for index in range(left + 1, right):
            if sizes[index + 1] > _APART * max(sizes[at], 1):
                first.append(index)
                at = index
    return [sizes[index] for index in sorted(first)]


def survivors(
    samples: Sequence[Sample],
    config: RaceConfig,
    failures: Sequence[LaunchRow] = (),
    refusals: Sequence[Refusal] = (),
) -> RaceState:
    """What the next round should measure; everything on the first sizes where there are no samples yet.

    `failures` and `refusals` are those of the study so far: what failed is not asked for again, what merely was not
    measured yet (a round that was interrupted) is. A settled group of cases, one (nodes, ppn), needs nothing more and
    is left out. A default that cannot be measured keeps its cases open: the caller must see to that.
    """
    out = disqualify(samples, failures, refusals, config.scope)
    measured = tables((sample for sample in samples if out.keeps(sample, config.scope)), "median")
    kept = {case: pooled(table, config.margin) for case, table in measured.items()}
    tried = _Tried(failures, refusals, out, config.scope)
    wanted: Wanted = {}
    doubts: list[str] = []
    for nodes, ppn in sorted({(case.nodes, case.ppn) for case in config.settings}):
        cases = [case for case in config.settings if (case.nodes, case.ppn) == (nodes, ppn)]
        group = {case: kept[case] for case in cases if case in kept and DEFAULT in kept[case]}
        missing: Wanted = {}
        for case in cases:
            settings = {DEFAULT, *config.settings[case]}
            settings -= elsewhere(case, settings) | set(group[case].settings if case in group else ())
            settings = {setting for setting in settings if setting.is_default or not tried.failed(case, setting)}
            if settings:
                count = "1 setting" if len(settings) == 1 else f"{len(settings)} settings"
                doubts.append(N_("{case}: {count} not measured yet").format(case=case, count=count))
                missing[case] = dict.fromkeys(first_sizes(config.sizes[case]), tuple(sorted({DEFAULT, *settings})))
        if missing:
            wanted |= missing
            continue
        want, said = _Group(group, config).next_round()
        wanted |= want
        doubts += said
    launches: dict[tuple[int, int], set[Setting]] = {}
    for case, sizes in wanted.items():
        parts = {launch_part(setting, config.scope) for settings in sizes.values() for setting in settings}
        launches.setdefault((case.nodes, case.ppn), set()).update(parts)
    return RaceState(
        wanted, {key: tuple(sorted(parts)) for key, parts in launches.items()}, not doubts, tuple(dict.fromkeys(doubts))
    )


class _Tried:
    """What was asked for and could not be had."""

    def __init__(
        self, failures: Sequence[LaunchRow], refusals: Sequence[Refusal], out: Disqualified, scope: Sequence[str]
    ) -> None:
        self._scope = scope
        self._out = out
        self._launches = {
            (row.nodes, row.ppn, launch_part(row.setting, scope)) for row in failures if row.status not in NO_FAULT
        }
        self._refused = {(refusal.collective, refusal.setting) for refusal in refusals}

    def failed(self, case: Case, setting: Setting) -> bool:
        call = case.collective, setting
        launch = case.nodes, case.ppn, launch_part(setting, self._scope)
        return call in self._refused or call in self._out.calls or launch in self._launches


class _Group:
    """The cases of one (nodes, ppn), which share launches."""

    def __init__(self, group: Mapping[Case, Table], config: RaceConfig) -> None:
        self._tables = {case.collective: table for case, table in group.items()}
        self._config = config
        self._weights = counted(self._tables, config.weights)
        self._launches = launches_of(list(self._tables.values()))
        self._contenders = {
            name: Contenders(table, self._launches, config.margin, config.confidence, config.tolerance)
            for name, table in self._tables.items()
        }
        self._elsewhere = {name: elsewhere(table.case, table.settings) for name, table in self._tables.items()}

    def next_round(self) -> tuple[Wanted, list[str]]:
        """What to measure for each case, and what is in doubt. A case that nothing in doubt concerns is left out."""
        needed, leading, doubts = self._plans()
        wanted: Wanted = {}
        for name, table in self._tables.items():
            rows, said = self._case(name, sorted(needed[name]), sorted(leading[name]))
            doubts += said
            if said or needed[name] != {DEFAULT}:
                wanted[table.case] = {size: tuple(sorted(settings)) for size, settings in rows.items()}
        return (wanted if doubts else {}), doubts

    def _case(
        self, name: str, needed: Sequence[Setting], leading: Sequence[Setting]
    ) -> tuple[dict[int, set[Setting]], list[str]]:
        """Size -> settings to measure, and what is in doubt within this case."""
        table, contenders = self._tables[name], self._contenders[name]
        doubts = []
        added = self._new_sizes(name, leading)
        if added or contenders.young_sizes():
            doubts.append(N_("{case}: sizes were added where the best choice changes").format(case=table.case))
        rows: dict[int, set[Setting]] = {size: {DEFAULT} for size in sorted({*table.sizes, *added})}
        for launch in dict.fromkeys([*needed, *leading]):
            calls = dict(contenders.best_calls(launch))
            if launch in leading:
                open_calls = contenders.open_calls(launch, self._config.ties_after)
                if any(open_calls.values()):
                    doubts.append(
                        N_("{case}: several algorithms may be best{launch}").format(
                            case=table.case, launch=_under(launch)
                        )
                    )
                if contenders.unproven(launch, self._config.most_launches):
                    doubts.append(
                        N_("{case}: an algorithm is ahead but not proven{launch}").format(
                            case=table.case, launch=_under(launch)
                        )
                    )
                calls = {size: calls[size] | open_calls[size] for size in calls}
            else:
                calls = {size: calls[size] - self._elsewhere[name] for size in calls}
            base = contenders.base(launch)
            for size, settings in rows.items():
                settings |= ({base} if base is not None else set()) | calls.get(size, set())
                if size in added:
                    settings |= _neighbours(size, table.sizes, calls)
        return rows, doubts

    def _new_sizes(self, name: str, relevant: Sequence[Setting]) -> set[int]:
        case, contenders = self._tables[name].case, self._contenders[name]
        allowed = self._config.sizes[case]
        beside = {size for launch in relevant for size in contenders.next_to_lone_winners(launch, allowed)}
        beside = {size for size in beside if (case, size) not in self._config.asked}
        return beside | {size for launch in relevant for size in contenders.new_sizes(launch, allowed)}

    def _plans(self) -> tuple[dict[str, set[Setting]], dict[str, set[Setting]], list[str]]:
        """Collective -> the plans still needed for it; collective -> the plans that lead a choice; and the doubts."""
        config = self._config
        needed: dict[str, set[Setting]] = {name: {DEFAULT} for name in self._tables}
        leading: dict[str, set[Setting]] = {name: {DEFAULT} for name in self._tables}
        doubts: list[str] = []
        objectives = {N_("all collectives together"): self._weights} if len(self._weights) > 1 else {}
        objectives |= {name: {name: 1.0} for name in self._weights}
        evaluations = [contenders.evaluation for contenders in self._contenders.values()]
        plans = assemble(evaluations, self._launches, config.confidence, self._weights)
        # To be chosen, a plan must beat the default launch setting's by the margin.
        credit = math.log1p(config.margin)
        for objective, weights in objectives.items():
            scores = self._scores(weights)
            leader = max(scores, key=lambda p: (scores[p][0] + (credit if p.is_default else 0.0), -len(p)))
            best, uncertain, launches = scores[leader]
            best += credit if leader.is_default else 0.0
            alive = set()
            for launch, (score, error, count) in scores.items():
                rival = launch not in (leader, DEFAULT) and count < config.ties_after
                if rival and expected_improvement(score - best, max(error, uncertain)) > config.tolerance:
                    alive.add(launch)
                    doubts.append(
                        N_("{objective}: {launch} may still beat {leader}").format(
                            objective=objective, launch=launch, leader=leader
                        )
                    )
            if not leader.is_default and self._worth_proving(plans, leader, weights, launches):
                alive.add(leader)
                doubts.append(
                    N_("{objective}: {leader} is ahead but not proven").format(objective=objective, leader=leader)
                )
            if alive:
                alive.add(leader)
            for name in weights:
                needed[name] |= alive
                leading[name].add(leader)
        return needed, leading, doubts

    def _worth_proving(
        self, plans: Sequence[Plan], leader: Setting, weights: Mapping[str, float], launches: int
    ) -> bool:
        """Whether the leader would not be chosen yet, but would be if more launches only made its gain surer."""
        config = self._config
        plan = next(plan for plan in plans if plan.launch == leader)
        default = next(plan for plan in plans if plan.launch.is_default)
        middle, low = mean_log(plan, weights, "mid"), mean_log(plan, weights, "low")
        mark = hurdle(default, weights, config.margin)
        if low > mark or launches >= config.most_launches:
            return False
        in_the_end = middle - (middle - low) * math.sqrt(launches / config.most_launches)
        return launches < config.ties_after or in_the_end > mark

    def _scores(self, weights: Mapping[str, float]) -> dict[Setting, tuple[float, float, int]]:
        """Plan -> mean log gain, its standard error, launches; only plans measured for all these collectives."""
        found = joined([self._contenders[name].possible for name in weights], weights, PRIOR)
        fit = found.contrast
        return {
            launch: (float(fit.log[row, column]), float(fit.error[row, column]), int(fit.launches[row, column]))
            for row, (launch, column) in enumerate(zip(found.launches, found.columns[1:], strict=True), start=1)
            if math.isfinite(fit.log[row, column])
        }


def _under(launch: Setting) -> str:
    return N_(" under {rest}").format(rest=launch) if launch else ""


def _neighbours(size: int, sizes: Sequence[int], calls: Mapping[int, set[Setting]]) -> set[Setting]:
    """What is wanted at the measured sizes on both sides of a new one."""
    below = max((s for s in sizes if s < size), default=None)
    above = min((s for s in sizes if s > size), default=None)
    return {setting for s in (below, above) if s is not None for setting in calls.get(s, ())}
