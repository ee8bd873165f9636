"""Predicted plans: from a decision on some numbers of nodes, what to use on others."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean

from unisono.core.by_size import in_files, one_for_all, undivided
from unisono.core.errors import UserError
from unisono.core.interval import Interval
from unisono.core.language import N_, _
from unisono.core.sizes import format_size
from unisono.core.vocabulary import (
    CALL_SCOPE,
    DEFAULT,
    DISPATCHED,
    MICROBENCHMARKS,
    NATIVE,
    PRELOAD,
    TWO_RANKS,
    Case,
    Setting,
    as_measured,
    launch_part,
)
from unisono.decide.decision import Decision
from unisono.decide.select import boundary
from unisono.extrapolate.contention import Network
from unisono.extrapolate.fit import Model, Point, Predictor, fit, point_of
from unisono.extrapolate.other_ppn import between
from unisono.extrapolate.pick import Launch, Pick, deciding, pick
from unisono.extrapolate.table import table_of
from unisono.tuning.finding import Finding
from unisono.tuning.plans import Plan, Rule

_FAR = N_("{case}: nothing is predicted, as no messages of the sizes that are sent there were measured.")
_FEW = N_("{case}: nothing is predicted, as the default was measured at fewer than two message sizes.")
_TIE = 0.01
"""Plans whose mean log gains differ by less are equally good."""


@dataclass(frozen=True, slots=True)
class Predicted:
    plans: tuple[Plan, ...]
    """One for each (nodes, ppn) asked for that was not measured."""
    launches: tuple[Launch, ...]
    """What would decide where the plans are not sure."""
    picks: tuple[Pick, ...] = ()
    """What the plans rest on, in their order: one for each case and message size."""
    without: tuple[Plan, ...] = ()
    """Where one of these needs our library, the best that does without: what the MPI's own files can say."""
    untold: tuple[Finding, ...] = ()
    """What was asked for and is not predicted, and why."""
    assumed: tuple[str, ...] = ()
    """Sentences: what they rest on besides what was measured."""

    def findings(self) -> list[Finding]:
        return [
            *(Finding("assumed", sentence) for sentence in self.assumed),
            *(
                Finding.of(launch.case, "not told", _sentence(launch), first=launch.sizes[0], last=launch.sizes[-1])
                for launch in self.launches
            ),
            *self.untold,
        ]


@dataclass(frozen=True, slots=True)
class _Known:
    """One collective over nodes, for one number of ranks a node."""

    models: Mapping[Setting, Predictor]
    sizes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Candidate:
    """What one launch setting promises."""

    plan: Plan
    picks: tuple[Pick, ...]

    @property
    def gain(self) -> float:
        return _mean([math.log(gain.mid) for gain in self.plan.gain.values()])

    @property
    def trusted(self) -> float:
        """The mean log gain that is reached as probably as one call's setting must be faster."""
        return _mean([math.log(one.trusted) for one in self.picks])


def extrapolate(
    decision: Decision,
    counts: Iterable[int],
    ppn: int | None,
    scope: Sequence[str],
    *,
    shared: bool = False,
    network: Network | None = None,
) -> Predicted:
    """Plans for `counts` nodes of `ppn` ranks, measured or not (None: every number of ranks a node that was measured
    over nodes).

    `scope`: the call-scope parameters that were switched inside launches; `shared`: whether the nodes share their CPUs
    (a virtual cluster); `network`: what is known of what lies between them. What was measured is not predicted. One
    node tells nothing of a network, so it is left out. Raises UserError where nothing was measured on two nodes or
    more.
    """
    over_nodes = {(e.case.nodes, e.case.ppn) for e in decision.estimates if e.case.nodes > 1}
    if not over_nodes:
        raise UserError(
            _(
                "nothing was measured on two nodes or more, and one node tells nothing of a network: tune on 2 and 4 "
                "nodes first"
            )
        )
    known = sorted({per_node for _nodes, per_node in over_nodes})
    plans: list[Plan] = []
    picks: list[Pick] = []
    without: list[Plan] = []
    untold: list[Finding] = []
    for per_node in known if ppn is None else [ppn]:
        near = min(known, key=lambda measured: (abs(math.log2(per_node / measured)), -measured))
        if near == per_node:
            collectives = _known(decision, per_node, shared, network)
        else:
            collectives = _between({one: _known(decision, one, shared, network) for one in known}, near)
        for nodes in sorted(set(counts)):
            if nodes > 1 and (nodes, per_node) not in over_nodes:
                best = _best(decision, collectives, nodes, per_node, near, scope)
                for name in sorted(_measured(decision, near) - set(best.plan.gain)):
                    case, why = Case(name, nodes, per_node), _FAR if name in collectives else _FEW
                    untold.append(Finding.of(case, "not told", why.format(case=case)))
                if best.plan.gain:
                    plans.append(best.plan)
                    picks += best.picks
                if best.plan.needs_library:
                    without.append(_best(decision, collectives, nodes, per_node, near, scope, library=False).plan)
    return Predicted(tuple(plans), tuple(deciding(picks)), tuple(picks), tuple(without), tuple(untold))


def _measured(decision: Decision, ppn: int) -> set[str]:
    """The collectives that were measured over nodes with so many ranks each."""
    cases = {one.case for one in decision.estimates}
    return {c.collective for c in cases if c.nodes > 1 and c.ppn == ppn and c.collective not in MICROBENCHMARKS}


def _known(decision: Decision, ppn: int, shared: bool, network: Network | None) -> dict[str, _Known]:
    points: dict[str, dict[Setting, list[Point]]] = defaultdict(lambda: defaultdict(list))
    for one in decision.estimates:
        case = one.case
        if case.nodes > 1 and case.ppn == ppn and case.collective not in MICROBENCHMARKS and one.time.mid > 0:
            points[case.collective][one.setting].append(point_of(one))
    found = {}
    for collective, settings in points.items():
        most = max(point.nodes for measured in settings.values() for point in measured)
        # What was left out on the most nodes refuses such ranks, failed or had lost there: it is nothing for more.
        there = {s: measured for s, measured in settings.items() if any(point.nodes == most for point in measured)}
        models = fit(collective, there, shared=shared, network=network)
        if DEFAULT in models:
            sizes = tuple(sorted({point.size for point in there[DEFAULT]}))
            found[collective] = _Known(models, sizes)
    return found


def _between(known: Mapping[int, Mapping[str, _Known]], near: int) -> dict[str, _Known]:
    """For a number of ranks a node that was not measured, of which `near` is the nearest measured."""
    found = {}
    for collective, there in known[near].items():
        laws = {
            ppn: {setting: model for setting, model in one[collective].models.items() if isinstance(model, Model)}
            for ppn, one in known.items()
            if collective in one
        }
        found[collective] = _Known(between(laws, near), there.sizes)
    return found


def _best(
    decision: Decision,
    collectives: Mapping[str, _Known],
    nodes: int,
    ppn: int,
    near: int,
    scope: Sequence[str],
    *,
    library: bool = True,
) -> _Candidate:
    """The launch setting that promises most of those that are trusted, the default's among them: of those that plans
    may have on the most nodes that were measured (with `near` ranks each), worth it there or not. `library` False: of
    those that do without ours."""
    best = _candidate(collectives, DEFAULT, nodes, ppn, scope)
    wanted = set(best.plan.gain)
    most = max((case for case in decision.possible if case[1] == near), default=None)
    possible = {launch for launch in (decision.possible[most] if most else ()) if library or PRELOAD not in launch}
    for launch in sorted(possible - {DEFAULT}):
        one = _candidate(collectives, launch, nodes, ppn, scope)
        # Under the default's own launch setting our library serves only calls that are trusted one by one.
        trusted = as_measured(launch) == DEFAULT or one.trusted > math.log1p(decision.margin)
        if trusted and set(one.plan.gain) == wanted and one.gain > best.gain + _TIE:
            best = one
    return best


def _candidate(
    collectives: Mapping[str, _Known],
    launch: Setting,
    nodes: int,
    ppn: int,
    scope: Sequence[str],
) -> _Candidate:
    base = as_measured(launch)
    gains: dict[str, Interval] = {}
    rules: list[Rule] = []
    picks: list[Pick] = []
    for collective, known in collectives.items():
        usable = _usable(known.models, collective, launch, scope, collectives)
        usable = {s: m for s, m in usable.items() if s.get("algorithm") != TWO_RANKS or nodes * ppn == 2}
        found = _picks(usable, Case(collective, nodes, ppn), known, base)
        several = {one.setting for one in found}
        if len(several) > 1 and undivided(collective, several, preloaded=PRELOAD in launch):
            found = _picks(_only(usable, base), Case(collective, nodes, ppn), known, base)
        if found:
            gains[collective] = over(found)
            rules += _rules(found, base, preloaded=PRELOAD in launch)
            picks += found
    return _Candidate(Plan(nodes, ppn, launch, gains, tuple(rules), basis="predicted"), tuple(picks))


def _only(models: Mapping[Setting, Predictor], setting: Setting) -> dict[Setting, Predictor]:
    return {one: model for one, model in models.items() if one == setting}


def _picks(models: Mapping[Setting, Predictor], case: Case, known: _Known, base: Setting) -> list[Pick]:
    table = table_of(models)
    every = (pick(models, case, size, base, known.models[DEFAULT], table) for size in known.sizes)
    return [one for one in every if one is not None]


def _usable(
    models: Mapping[Setting, Predictor], collective: str, launch: Setting, scope: Sequence[str], forms: Collection[str]
) -> dict[Setting, Predictor]:
    """What a plan's rules may name, as for measured plans (decide.plans): algorithms of coll/tuned where that serves,
    or of MPICH or Intel MPI; where our library carries it out, whatever was switched inside the launches, too; else
    the launch setting alone."""
    base = as_measured(launch)
    native = [base | {"coll": name} for name in NATIVE if in_files(collective, name, forms)]
    # Where it serves anyway, asking for it is folded into asking for nothing, and was never measured.
    serving = [forced for forced in native if base == forced or ("coll" not in base and forced not in models)]
    found = {
        setting: model
        for setting, model in models.items()
        if setting == base or ("algorithm" in setting and setting.without("algorithm", "segment") in serving)
    }
    if PRELOAD not in launch:
        return found
    if collective in DISPATCHED:
        found |= {setting: model for setting, model in models.items() if launch_part(setting, scope) == base}
    # What holds for all sizes or none cannot stand beside ours.
    return {setting: model for setting, model in found.items() if not one_for_all(collective, setting)}


def over(picks: Sequence[Pick]) -> Interval:
    """The geometric mean of gains. Their errors are not independent, so a mean of bounds bounds it."""
    ends = ([math.log(getattr(one.gain, end)) for one in picks] for end in ("mid", "low", "high"))
    return Interval(*(math.exp(_mean(values)) for values in ends))


def _mean(values: Sequence[float]) -> float:
    return fmean(values) if values else 0.0


def _rules(picks: Sequence[Pick], base: Setting, *, preloaded: bool) -> list[Rule]:
    """Neighbouring sizes with one setting are one rule; beyond the first and the last size nothing is claimed."""
    found = []
    start = 0
    for setting, group in groupby(picks, key=lambda one: one.setting):
        run = list(group)
        end = start + len(run)
        if setting != base:
            case = run[0].case
            first = boundary(picks[start - 1].size, run[0].size) if start else run[0].size
            last: int | None = boundary(run[-1].size, picks[end].size) - 1 if end < len(picks) else run[-1].size
            if undivided(case.collective, [setting], preloaded=preloaded):
                first, last = 0, None
            found.append(
                Rule(
                    case.collective,
                    first,
                    last,
                    setting.only(*CALL_SCOPE),
                    over(run),
                    tuple(one.size for one in run),
                    sure=min(one.sure for one in run),
                    basis="predicted",
                )
            )
        start = end
    return found


def _sentence(launch: Launch) -> str:
    return N_(
        "{case}: the prediction is not sure at {sizes}; one launch there with {settings} would decide it: {command}"
    ).format(
        case=launch.case,
        sizes=", ".join(map(format_size, launch.sizes)),
        settings="; ".join(map(str, launch.settings)),
        command=to_decide(launch),
    )


def to_decide(launch: Launch) -> str:
    """The command that measures it."""
    case = launch.case
    sizes = " ".join(f"--size {format_size(size).replace(' ', '')}" for size in launch.sizes)
    return f"unisono tune --nodes {case.nodes} --ppn {case.ppn} --collective {case.collective} {sizes}"
