"""Plans: one launch-scope setting each, with the best call-scope rules under it, and what each gains.

A component (`coll`) can be preferred for a whole launch, so every measured launch|{coll: X} is a plan of its own whose
launch part is launch | {coll: X}. coll/tuned's algorithms become rules of plans in which coll/tuned serves: those that
prefer it, and those without a component where it serves anyway (then launch|{coll: tuned} was folded into launch and
never measured). A component that does not implement a collective leaves it as it is without the component.

Gains are not flattered by having been chosen. Which of several algorithms serves a range is decided, for the estimate,
without the launch it is then judged on. And the best of many plans is best partly by luck: if the winner changes when
a round is left out, its gain (and that of any as good) is cut to what winners chosen without a round make of it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

from unisono.decide.model import Interval, Plan, Rule
from unisono.decide.robust import Counts, Floats
from unisono.decide.select import boundary, segments
from unisono.decide.statistics import Contrast, Prior, contrasts, interval
from unisono.decide.table import Table, filled
from unisono.errors import UserError
from unisono.model import DEFAULT, Setting

COVERAGE = 0.5
"""A plan has a gain for a collective when it was measured on at least this share of the default's sizes."""
TIE = 0.01
"""Plans whose mean log gains differ by less are equally good; the simplest is taken."""


@dataclass(frozen=True, eq=False)
class Course:
    """One plan for one collective: what serves which size (indices into the table's sizes), launch by launch."""

    launch: Setting
    base: Setting
    """The setting measured for what happens by itself under this plan."""
    spans: tuple[tuple[int, int, Setting], ...]
    """(first, last, setting with launch part) over the positions in `sizes`."""
    sizes: tuple[int, ...]
    """Indices of the table's sizes the plan was measured at."""
    logs: Floats
    """Log seconds over those sizes x launches, every launch judged without having taken part in the choice."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """All plans for one collective against the default: rows 1.. of `contrast` are the courses."""

    table: Table
    courses: tuple[Course, ...]
    cells: Mapping[tuple[int, ...], int]
    """Sizes (indices) -> column of `contrast`."""
    contrast: Contrast
    values: Floats
    """What was compared: mean log seconds, rows x cells x launches."""


def launches_of(tables: Sequence[Table]) -> list[Setting]:
    """The launch parts of all plans these tables (of one nodes x ppn) support; the default first."""
    measured = {setting for table in tables for setting in table.settings}
    found = {DEFAULT}
    for setting in measured:
        key = setting.without("algorithm", "segment")
        found.add(key if key in measured else key.without("coll"))
    return sorted(found)


def base_of(table: Table, launch: Setting) -> Setting | None:
    """The measured setting that is what happens by itself under a plan's launch part; None: never measured."""
    for candidate in (launch, launch.without("coll")):
        if candidate in table:
            return candidate
    return None


def calls_of(table: Table, launch: Setting) -> list[Setting]:
    """The measured settings (launch part included) that coll/tuned's rules could switch to under a plan."""
    tuned = launch.without("coll") | {"coll": "tuned"}
    base = base_of(table, launch)
    if launch.get("coll") != "tuned" and (base is None or "coll" in base or tuned in table):
        return []
    return [s for s in table.settings if "algorithm" in s and s.without("algorithm", "segment") == tuned]


def evaluate(table: Table, launches: Sequence[Setting], margin: float, confidence: float) -> Evaluation:
    """Every plan's course for one collective, compared with the default. The table must hold the default."""
    logs = filled(table.logs)
    found = [course for launch in launches if (course := _course(table, logs, launch, margin, confidence))]
    return compared(table, logs, found)


def compared(table: Table, logs: Floats, courses: Sequence[Course], prior: Prior | None = None) -> Evaluation:
    """Courses against the default, on the sizes of each and of each of their spans. `logs`: the table's, filled."""
    keys = {course.sizes for course in courses}
    keys |= {course.sizes[first : last + 1] for course in courses for first, last, _ in course.spans}
    cells = {key: column for column, key in enumerate(sorted(keys))}
    values = np.full((len(courses) + 1, len(cells), len(table.launches)), np.nan)
    for key, column in cells.items():
        values[0, column] = _mean(logs[table.row(DEFAULT)], table.weights, key)
        for row, course in enumerate(courses, start=1):
            if course.sizes == key or any(course.sizes[first : last + 1] == key for first, last, _ in course.spans):
                at = [course.sizes.index(index) for index in key]
                values[row, column] = _mean(course.logs, table.weights[list(course.sizes)], at)
            else:
                # Only to know how noisy plans are on these sizes.
                values[row, column] = _mean(logs[table.row(course.base)], table.weights, key)
    return Evaluation(table, tuple(courses), cells, contrasts(values, 0, table.rounds, prior), values)


def _course(table: Table, logs: Floats, launch: Setting, margin: float, confidence: float) -> Course | None:
    base = base_of(table, launch)
    if base is None:
        return None
    row = table.row(base)
    sizes = np.flatnonzero(np.isfinite(logs[row]).any(axis=-1) & np.isfinite(logs[table.row(DEFAULT)]).any(axis=-1))
    if table.weights[sizes].sum() < COVERAGE:
        return None
    calls = calls_of(table, launch)
    rows = [row, *(table.row(call) for call in calls)]
    part = logs[rows][:, sizes]
    told = aligned(part, table.rounds)
    spans = []
    judged = part[0].copy()
    weights = table.weights[sizes]
    complexity = [len(call.only("coll", "algorithm", "segment")) for call in calls]
    for segment in segments(part, table.rounds, weights, complexity, margin=margin, confidence=confidence):
        within = slice(segment.first, segment.last + 1)
        chosen = base if segment.choice is None else calls[segment.choice - 1]
        if segment.choice is not None:
            line = _held_out(told[1:, within], weights[within], segment.choice - 1)
            judged[within] = bridged(line, part[0, within])
        spans.append((segment.first, segment.last, chosen))
    return Course(launch, base, tuple(spans), tuple(int(index) for index in sizes), judged)


def aligned(part: Floats, rounds: Counts) -> Floats:
    """Rows that need launches of their own, told as if measured in the first row's launches of the same rounds."""
    own = np.isfinite(part[0]).any(axis=0)
    result = part.copy()
    for row in range(1, len(part)):
        if not np.isfinite(part[row][:, own]).any():
            for launch in np.flatnonzero(own):
                there = part[row][:, rounds == rounds[launch]]
                counts = np.isfinite(there).sum(axis=1)
                result[row, :, launch] = np.where(counts > 0, np.nansum(there, axis=1) / np.maximum(counts, 1), np.nan)
            result[row][:, ~own] = np.nan
    return result


def bridged(line: Floats, base: Floats) -> Floats:
    """A candidate's times (sizes x launches), completed where only the base was measured in a launch.

    There it is the base's time and the mean difference of the two in the launches that measured both: a search
    measures algorithms in fewer launches than what they are compared with.
    """
    both = np.isfinite(line) & np.isfinite(base)
    counts = both.sum(axis=1)
    difference = np.where(both, line - base, 0.0).sum(axis=1) / np.maximum(counts, 1)
    return np.where(np.isfinite(line) | (counts == 0)[:, None], line, base + difference[:, None])


def _held_out(part: Floats, weights: Floats, chosen: int) -> Floats:
    """Sizes x launches of the candidate that is best over the range in the other launches, launch by launch."""
    means = np.tensordot(part, weights / weights.sum(), axes=(1, 0))
    judged: Floats = part[chosen].copy()
    complete = np.isfinite(means)
    for launch in np.flatnonzero(complete[chosen]):
        others = complete & complete[chosen]
        others[:, launch] = False
        rivals = [r for r in range(len(means)) if complete[r, launch] and (others[r] == others[chosen]).all()]
        if rivals and others[chosen].any():
            best = min(rivals, key=lambda r: (float(np.median(means[r][others[chosen]])), r != chosen))
            judged[:, launch] = part[best][:, launch]
    return judged


def _mean(logs: Floats, weights: Floats, sizes: Sequence[int]) -> Floats:
    """Weighted mean over some sizes (rows of `logs`), launch by launch; NaN where one is missing."""
    share = weights[list(sizes)]
    mean: Floats = np.sum(logs[list(sizes)] * share[:, None], axis=0) / np.sum(share)
    return mean


def build(
    tables: Mapping[str, Table], margin: float, confidence: float, launches: Sequence[Setting] | None = None
) -> list[Plan]:
    """All plans of one (nodes, ppn): collective -> table, each holding the default. In the order of their launch part.

    `launches` restricts them to some launch parts; the default's is always there.
    """
    wanted = launches_of(list(tables.values())) if launches is None else sorted({DEFAULT, *launches})
    return assemble([evaluate(table, wanted, margin, confidence) for table in tables.values()], wanted, confidence)


def assemble(evaluations: Sequence[Evaluation], wanted: Sequence[Setting], confidence: float) -> list[Plan]:
    """Plans with these launch parts out of the evaluations of each collective."""
    gains: dict[Setting, dict[str, Interval]] = {launch: {} for launch in wanted}
    rules: dict[Setting, list[Rule]] = {launch: [] for launch in wanted}
    for evaluation in evaluations:
        collective = evaluation.table.case.collective
        cut = _cut(evaluation)
        half = evaluation.contrast.half(confidence)
        for row, course in enumerate(evaluation.courses, start=1):
            column = evaluation.cells[course.sizes]
            gains[course.launch][collective] = _gain(evaluation.contrast, half, row, column, cut[row], course)
            rules[course.launch] += _rules(evaluation, half, row, cut[row], course)
    case = evaluations[0].table.case
    return [Plan(case.nodes, case.ppn, launch, gains[launch], tuple(rules[launch])) for launch in wanted]


def _gain(contrast: Contrast, half: Floats, row: int, column: int, cut: float, course: Course) -> Interval:
    if course.base.is_default and all(setting.is_default for _, _, setting in course.spans):
        return Interval(1.0, 1.0, 1.0)
    return _modest(float(contrast.log[row, column]), float(half[row, column]), cut)


def _modest(log: float, half: float, cut: float) -> Interval:
    """The interval with its middle cut by luck, but no further than its end: the intervals hold for all plans at once
    (`Contrast.half`), so the ends need no correction for the best having been picked out."""
    whole = interval(log, half)
    return Interval(math.exp(log - min(cut, half)), whole.low, whole.high)


def _rules(evaluation: Evaluation, half: Floats, row: int, cut: float, course: Course) -> list[Rule]:
    table = evaluation.table
    rules = []
    sizes = [table.sizes[index] for index in course.sizes]
    for first, last, setting in course.spans:
        column = evaluation.cells[course.sizes[first : last + 1]]
        end = boundary(sizes[last], sizes[last + 1]) - 1 if last + 1 < len(sizes) else None
        rules.append(
            Rule(
                case=table.case,
                first=boundary(sizes[first - 1], sizes[first]) if first else 0,
                last=end,
                call=setting.only("coll", "algorithm", "segment") if "algorithm" in setting else DEFAULT,
                gain=Interval(1.0, 1.0, 1.0)
                if setting.is_default
                else _modest(float(evaluation.contrast.log[row, column]), float(half[row, column]), cut),
                sizes=tuple(sizes[first : last + 1]),
                launches=int(evaluation.contrast.launches[row, column]),
            )
        )
    return rules


def _cut(evaluation: Evaluation) -> Floats:
    """How much of each row's log gain is the luck of the winner (rows as in the contrast)."""
    rows = len(evaluation.courses) + 1
    cut = np.zeros(rows)
    columns = [0, *(evaluation.cells[course.sizes] for course in evaluation.courses)]
    scores = np.array([evaluation.contrast.log[row, columns[row]] for row in range(rows)])
    scores[0] = 0.0
    if rows < 3 or not np.isfinite(scores[1:]).any():
        return cut
    gains = _round_gains(evaluation, columns)
    best = int(np.nanargmax(scores))
    luck = []
    for number in range(gains.shape[1]):
        others = np.delete(gains, number, axis=1)
        counts = np.isfinite(others).sum(axis=1)
        means = np.where(counts > 0, np.nansum(others, axis=1) / np.maximum(counts, 1), -np.inf)
        means = np.where(np.isfinite(gains[:, number]), means, -np.inf)
        winner = int(np.argmax(means))
        if np.isfinite(means[winner]) and np.isfinite(gains[best, number]):
            luck.append(gains[best, number] - gains[winner, number])
    if luck:
        cap = max(scores[best] - max(float(np.mean(luck)), 0.0), 0.0)
        cut = np.where(np.isfinite(scores), np.maximum(scores - cap, 0.0), 0.0)
        cut[0] = 0.0
    return cut


def _round_gains(evaluation: Evaluation, columns: Sequence[int]) -> Floats:
    """Log gain over the default of each row in each round: rows x rounds."""
    rounds: Counts = evaluation.table.rounds
    numbers = np.unique(rounds)
    gains = np.full((len(columns), numbers.size), np.nan)
    for position, number in enumerate(numbers):
        here = rounds == number
        for row, column in enumerate(columns):
            pair = evaluation.values[[0, row], column][:, here]
            counts = np.isfinite(pair).sum(axis=1)
            if counts.all():
                means = np.nansum(pair, axis=1) / counts
                gains[row, position] = means[0] - means[1]
    return gains


class Choosable(Protocol):
    """What can be chosen from: a Plan, or what a tuning stores of one. `gain` holds objects with mid and low."""

    @property
    def launch(self) -> Mapping[str, str]: ...

    @property
    def gain(self) -> Mapping[Any, Any]: ...


P = TypeVar("P", bound=Choosable)


def choose(plans: Sequence[P], weights: Mapping[str, float] | None = None, margin: float = 0.03) -> P:
    """The plan with the greatest weighted mean log gain, if it is sure to beat the default launch setting's.

    `weights`: collective -> how much it counts (none: all alike). The plan for the default launch setting is kept
    unless the lower bound of another's mean gain beats the mean gain of that plan (1 when it has no rules) by `margin`.
    Launches are common to all collectives, so lower bounds are averaged as they are. A plan without a gain for a
    collective that counts is not eligible. Of plans as good as the best (within 1 %) the simplest is taken. Raises
    UserError without a plan for the default launch setting, or when no weight counts.
    """
    default = next((plan for plan in plans if not plan.launch), None)
    if default is None:
        raise UserError("there is no plan for the default launch setting to compare with; a study always measures it")
    counted = {name: weight for name, weight in (weights or dict.fromkeys(default.gain, 1.0)).items() if weight > 0}
    if not counted:
        raise UserError("weights: all are 0, so nothing would count")
    mark = hurdle(default, counted, margin)
    sure = [plan for plan in plans if mean_log(plan, counted, "low") > mark]
    if not sure:
        return default
    best = max(mean_log(plan, counted, "mid") for plan in sure)
    good = [plan for plan in sure if mean_log(plan, counted, "mid") >= best - TIE]
    return min(good, key=lambda plan: (len(plan.launch), -mean_log(plan, counted, "mid")))


def mean_log(plan: Choosable, weights: Mapping[str, float], end: str) -> float:
    """Weighted mean of the log gains' "mid" or "low"; minus infinity when a collective lacks or nothing is known."""
    if any(name not in plan.gain for name in weights):
        return -math.inf
    return sum(weight * _log(getattr(plan.gain[name], end)) for name, weight in weights.items()) / sum(weights.values())


def hurdle(default: Choosable, weights: Mapping[str, float], margin: float) -> float:
    """What the lower bound of a plan's mean log gain must beat for it to be chosen."""
    return math.log1p(margin) + max(mean_log(default, weights, "mid"), 0.0)


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf


def worthwhile(plans: Sequence[Plan], margin: float) -> list[Plan]:
    """The default's plan and every plan some weighting could choose: proven for a collective, and not beaten in all.

    A plan is beaten when another, as simple or simpler, gains at least as much in every collective.
    """
    kept = [plan for plan in plans if not plan.launch]
    marks = {name: (1 + margin) * max(gain.mid, 1.0) for plan in kept for name, gain in plan.gain.items()}
    rest = [p for p in plans if p.launch and any(g.low > marks.get(name, math.inf) for name, g in p.gain.items())]
    for plan in rest:
        if not any(_beats(other, plan) for other in [*rest, *kept] if other is not plan):
            kept.append(plan)
    return kept


def _beats(other: Plan, plan: Plan) -> bool:
    if set(other.gain) != set(plan.gain) or len(other.launch) > len(plan.launch):
        return False
    pairs = [(other.gain[name].mid, plan.gain[name].mid) for name in plan.gain]
    better = any(a > b for a, b in pairs) or len(other.launch) < len(plan.launch) or other.launch < plan.launch
    return better and all(a >= b for a, b in pairs)


def ordered(plans: Sequence[Plan], weights: Mapping[str, float], margin: float) -> list[Plan]:
    """The chosen plan first, then by weighted mean log gain; plans without a gain that counts last."""

    first = choose(plans, weights, margin)
    rest = sorted((p for p in plans if p is not first), key=lambda p: (-mean_log(p, weights, "mid"), p.launch))
    return [first, *rest]
