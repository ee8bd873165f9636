"""Plans: one launch-scope setting each, with the best call-scope rules under it, and what each gains.

A component (`coll`) can be preferred for a whole launch, so every measured launch|{coll: X} is a plan of its own whose
launch part is launch | {coll: X}. coll/tuned's algorithms become rules of plans in which coll/tuned serves: those that
prefer it, and those without a component where it serves anyway (then launch|{coll: tuned} was folded into launch and
never measured). A component that does not implement a collective leaves it as it is without the component.

Where our own algorithms were measured, our library was in all launches, and there are plans that it carries out: their
launch part is launch | {preload: unisono}, and their rules may name, size by size, whatever was switched inside the
launches of that launch part: our algorithms, coll/tuned's, other components.

Gains are not flattered by having been chosen. Which of several algorithms serves a range is decided, for the estimate,
without the launch it is then judged on, and the winner's luck is taken off (unisono.decide.luck). Which plan to take is
unisono.tuning.choosing's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from unisono.core.by_size import all_or_none, in_files, one_for_all, undivided
from unisono.core.interval import Interval
from unisono.core.vocabulary import (
    CALL_SCOPE,
    DEFAULT,
    DISPATCHED,
    LEFT_TO_THE_MPI,
    NATIVE,
    PRELOAD,
    UNISONO,
    Setting,
    is_ours,
    of_libnbc,
)
from unisono.decide.as_fast import as_fast
from unisono.decide.joint import joint_gains
from unisono.decide.luck import cut, modest
from unisono.decide.robust import Counts, Floats
from unisono.decide.select import Segment, boundary, merged, segments
from unisono.decide.statistics import Contrast, Prior, contrasts
from unisono.decide.table import Table, filled
from unisono.tuning.plans import Plan, Rule

COVERAGE = 0.5
"""A plan has a gain for a collective when it was measured on at least this share of the default's sizes."""


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
    as_fast: tuple[tuple[Setting, ...], ...] = ()
    """For each span, what is as fast as its setting (unisono.decide.as_fast)."""

    @property
    def plain(self) -> bool:
        """Whether this is what the default does by itself, under another name or under the default's own."""
        return self.base.is_default and all(setting.is_default for _, _, setting in self.spans)


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
    if any(is_ours(setting) or of_libnbc(setting) for setting in measured):
        carried = [launch | {PRELOAD: UNISONO} for launch in found if "coll" not in launch]
        found |= {ours for ours in carried if any(_needed(table, ours) for table in tables)}
    return sorted(found)


def _needed(table: Table, launch: Setting) -> bool:
    """Whether our library can use more under a launch part than the MPI's own files can say, or size by size what they
    say for all sizes."""
    served = calls_of(table, launch)
    whole = any(one_for_all(table.case.collective, call) for call in served)
    return whole or not set(served) <= set(calls_of(table, launch.without(PRELOAD)))


def base_of(table: Table, launch: Setting) -> Setting | None:
    """The measured setting that is what happens by itself under a plan's launch part; None: never measured."""
    launch = launch.without(PRELOAD)
    for candidate in (launch, launch.without("coll")):
        if candidate in table:
            return candidate
    return None


def calls_of(table: Table, launch: Setting) -> list[Setting]:
    """The measured settings (launch part included) that the rules of coll/tuned, of MPICH, of Intel MPI, or of our
    library could switch to under a plan."""
    if PRELOAD in launch:
        return _served(table, launch.without(PRELOAD))
    return [setting for native in NATIVE for setting in _native(table, launch, native)]


def _native(table: Table, launch: Setting, native: str) -> list[Setting]:
    forced = launch.without("coll") | {"coll": native}
    if not in_files(table.case.collective, native, table.forms):
        return []
    base = base_of(table, launch)
    if launch.get("coll") != native and (base is None or "coll" in base or forced in table):
        return []
    return list(table.algorithms.get(forced, ()))


def _served(table: Table, launch: Setting) -> list[Setting]:
    """What our library could switch to: whatever was switched inside launches of this launch part."""
    rules = calls_of(table, launch)
    # Files have it for all sizes or none: it cannot stand beside ours, but where our library gives it to calls.
    rules = [s for s in rules if not one_for_all(table.case.collective, s)]
    base = base_of(table, launch)
    if base is None or table.case.collective not in DISPATCHED:
        return rules
    there = np.isfinite(table.logs[table.row(base)]).any(axis=0)
    inside = [
        s
        for s in table.settings
        if "coll" in s
        and s.get("coll") not in LEFT_TO_THE_MPI
        and s not in rules
        and s.without(*CALL_SCOPE) == launch
        and bool((np.isfinite(table.logs[table.row(s)]).any(axis=0) & there).any())
    ]
    return [*rules, *inside]


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
    spans, others = [], []
    judged = part[0].copy()
    weights = table.weights[sizes]
    complexity = [len(call.only("coll", "algorithm", "segment")) for call in calls]
    whole = one_for_all_sizes(table, launch)
    found = _cut(part, table.rounds, weights, complexity, margin, confidence, whole=whole)
    for segment in _all_named(found, calls, told, weights):
        within = slice(segment.first, segment.last + 1)
        chosen = base if segment.choice is None else calls[segment.choice - 1]
        if segment.choice is not None:
            line = _held_out(told[1:, within], weights[within], segment.choice - 1)
            judged[within] = bridged(line, part[0, within])
        spans.append((segment.first, segment.last, chosen))
        equal = (
            as_fast(
                table.case, told[:, within], table.rounds, weights[within], calls, segment.choice, margin, confidence
            )
            if segment.choice is not None
            else ()
        )
        others.append(equal)
    return Course(launch, base, tuple(spans), tuple(int(index) for index in sizes), judged, tuple(others))


def one_for_all_sizes(table: Table, launch: Setting) -> bool:
    """Whether one choice holds for all sizes under a plan."""
    return undivided(table.case.collective, calls_of(table, launch), preloaded=PRELOAD in launch)


def _cut(
    part: Floats,
    rounds: Counts,
    weights: Floats,
    complexity: Sequence[int],
    margin: float,
    confidence: float,
    *,
    whole: bool,
) -> Sequence[Segment]:
    """Ranges with what serves each; one over all sizes (`whole`) where whoever chooses tells no sizes apart."""
    if not whole:
        return segments(part, rounds, weights, complexity, margin=margin, confidence=confidence)
    share = weights / weights.sum()
    mean: Floats = np.sum(part * share[:, None], axis=1, keepdims=True)
    (one,) = segments(mean, rounds, np.ones(1), complexity, margin=margin, confidence=confidence)
    return [replace(one, first=0, last=len(weights) - 1)]


def _all_named(found: Sequence[Segment], calls: Sequence[Setting], told: Floats, weights: Floats) -> Sequence[Segment]:
    """The same; but where one that has to be named for all sizes serves some, what the plan does by itself serves none:
    of those that can be named the quickest there takes its place."""
    if not any(segment.choice is not None and all_or_none(calls[segment.choice - 1]) for segment in found):
        return found
    named = [row for row, call in enumerate(calls, start=1) if all_or_none(call)]
    whole: list[Segment] = []
    for segment in found:
        if segment.choice is None:
            within = slice(segment.first, segment.last + 1)
            means = {row: _level(told[row, within], weights[within]) for row in named}
            known = [row for row in named if np.isfinite(means[row])]
            segment = replace(segment, choice=min(known, key=means.__getitem__) if known else None)
        whole.append(segment)
    return merged(whole)


def _level(logs: Floats, weights: Floats) -> float:
    """Median over launches of the weighted mean over sizes; NaN where no launch measured them all."""
    means = weights @ logs / weights.sum()
    means = means[np.isfinite(means)]
    return float(np.median(means)) if means.size else math.nan


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
    tables: Mapping[str, Table],
    margin: float,
    confidence: float,
    launches: Sequence[Setting] | None = None,
    weights: Mapping[str, float] | None = None,
) -> list[Plan]:
    """All plans of one (nodes, ppn): collective -> table, each holding the default. In the order of their launch part.

    `launches` restricts them to some launch parts; the default's is always there. `weights` are those of the joint gain
    (see joint.counted).
    """
    wanted = launches_of(list(tables.values())) if launches is None else sorted({DEFAULT, *launches})
    evaluations = [evaluate(table, wanted, margin, confidence) for table in tables.values()]
    return assemble(evaluations, wanted, confidence, weights)


def assemble(
    evaluations: Sequence[Evaluation],
    wanted: Sequence[Setting],
    confidence: float,
    weights: Mapping[str, float] | None = None,
) -> list[Plan]:
    """Plans with these launch parts out of the evaluations of each collective."""
    gains: dict[Setting, dict[str, Interval]] = {launch: {} for launch in wanted}
    rules: dict[Setting, list[Rule]] = {launch: [] for launch in wanted}
    for evaluation in evaluations:
        collective = evaluation.table.case.collective
        columns = [0, *(evaluation.cells[course.sizes] for course in evaluation.courses)]
        cuts = cut(evaluation.contrast, evaluation.values, evaluation.table.rounds, columns)
        half = evaluation.contrast.half(confidence)
        for row, course in enumerate(evaluation.courses, start=1):
            gains[course.launch][collective] = _gain(evaluation.contrast, half, row, columns[row], cuts[row], course)
            rules[course.launch] += _rules(evaluation, half, row, cuts[row], course)
    together = joint_gains(evaluations, weights, confidence)
    case = evaluations[0].table.case
    return [
        Plan(case.nodes, case.ppn, launch, gains[launch], tuple(rules[launch]), together.get(launch))
        for launch in wanted
    ]


def _gain(contrast: Contrast, half: Floats, row: int, column: int, cut: float, course: Course) -> Interval:
    if course.plain:
        return Interval(1.0, 1.0, 1.0)
    return modest(float(contrast.log[row, column]), float(half[row, column]), cut)


def _rules(evaluation: Evaluation, half: Floats, row: int, cut: float, course: Course) -> list[Rule]:
    table = evaluation.table
    rules = []
    sizes = [table.sizes[index] for index in course.sizes]
    for (first, last, setting), others in zip(course.spans, course.as_fast, strict=True):
        column = evaluation.cells[course.sizes[first : last + 1]]
        end = boundary(sizes[last], sizes[last + 1]) - 1 if last + 1 < len(sizes) else None
        rules.append(
            Rule(
                collective=table.case.collective,
                first=boundary(sizes[first - 1], sizes[first]) if first else 0,
                last=end,
                call=DEFAULT if setting == course.base else setting.only(*CALL_SCOPE),
                gain=Interval(1.0, 1.0, 1.0)
                if setting.is_default
                else modest(float(evaluation.contrast.log[row, column]), float(half[row, column]), cut),
                sizes=tuple(sizes[first : last + 1]),
                launches=int(evaluation.contrast.launches[row, column]),
                as_fast=tuple(other.only(*CALL_SCOPE) for other in others),
            )
        )
    return rules
