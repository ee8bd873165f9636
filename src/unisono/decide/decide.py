"""From samples to a decision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.core.vocabulary import CALL_SCOPE, DEFAULT, IMPORTED, NATIVE, SIMULATED, Sample, Setting
from unisono.decide import sentences
from unisono.decide.decision import Decision, Step
from unisono.decide.disqualify import Disqualified, disqualify
from unisono.decide.findings import findings, summed
from unisono.decide.joint import counted
from unisono.decide.plans import build, launches_of
from unisono.decide.pool import pooled
from unisono.decide.select import estimates
from unisono.decide.stepwise import Selection, select
from unisono.decide.table import Table, in_order, tables
from unisono.study.data import LaunchRow, Refusal
from unisono.tuning.choosing import ordered, worthwhile
from unisono.tuning.finding import Finding
from unisono.tuning.plans import Plan

STATISTIC = {"classic": "mean", "race": "median", SIMULATED: "median", IMPORTED: "median"}
"""What of a launch counts: the benchmark of Oracle's guides reports means; medians do not mind a hiccup."""


def decide(
    samples: Sequence[Sample],
    *,
    method: str,
    margin: float = 0.03,
    confidence: float = 0.95,
    weights: Mapping[str, float] | None = None,
    scope: Sequence[str] = CALL_SCOPE,
    failures: Sequence[LaunchRow] = (),
    refusals: Sequence[Refusal] = (),
    notes: Sequence[str] = (),
    never: Sequence[str] = (),
) -> Decision:
    """Estimates, plans and findings of a study. Deterministic: the same samples, in any order, decide the same.

    `method`: "race" compares medians and every plan that was measured; "classic" compares means and, as Oracle's guides
    do, selects in steps: its plans are the default and what the steps arrive at. `weights`: collective -> how much it
    counts in the joint choice (none: all alike, ping-pong aside). `failures`: launches that did not end well;
    `refusals`: what could not be measured in launches that did; `never`: launch settings that had no launch.
    Raises UserError when there is nothing to decide from.
    """
    if method not in STATISTIC:
        raise UserError(
            _("method {method!r} is not known; it is one of {statistic}").format(
                method=method, statistic=", ".join(sorted(STATISTIC))
            )
        )
    if not samples:
        raise UserError(_("there are no samples to decide from"))
    ordered_samples = in_order(samples)
    out = disqualify(ordered_samples, failures, refusals, scope)
    kept = [s for s in ordered_samples if out.keeps(s, scope)] if out.calls or out.launches else ordered_samples
    by_case = tables(kept, STATISTIC[method])
    comparable = {case: table for case, table in by_case.items() if DEFAULT in table}
    if not comparable:
        raise UserError(_("no case holds a sample of the default setting, so there is nothing to compare with"))

    selections: dict[tuple[int, int], list[Selection]] = {}
    steps: list[Step] = []
    said: list[Finding] = []
    for case, table in comparable.items():
        fixed: tuple[Setting, ...] = ()
        if method == "classic":
            selection = select(table, margin, confidence)
            selections.setdefault((case.nodes, case.ppn), []).append(selection)
            steps += selection.steps
            fixed = (selection.plain, selection.chosen)
        said += findings(table, margin, confidence, fixed)

    together = {case: pooled(table, margin) for case, table in comparable.items()}
    plans: list[Plan] = []
    possible: dict[tuple[int, int], tuple[Setting, ...]] = {}
    for nodes, ppn in sorted({(case.nodes, case.ppn) for case in comparable}):
        group = {c.collective: table for c, table in together.items() if (c.nodes, c.ppn) == (nodes, ppn)}
        possible[nodes, ppn] = tuple(_launches(group, selections.get((nodes, ppn)), out, scope))
        plans += _plans(group, possible[nodes, ppn], weights, margin, confidence)
    return Decision(
        method=method,
        margin=margin,
        confidence=confidence,
        statistic=STATISTIC[method],
        estimates=tuple(e for table in together.values() for e in estimates(table, margin, confidence)),
        plans=tuple(plans),
        findings=(
            *out.findings,
            *summed(said),
            *([Finding("not told", sentences.never(never))] if never else []),
            *(Finding("folded", note) for note in notes),
        ),
        weights=dict(weights or {}),
        steps=tuple(steps),
        possible=possible,
        never=tuple(never),
    )


def _launches(
    group: Mapping[str, Table], steps_to: Sequence[Selection] | None, out: Disqualified, scope: Sequence[str]
) -> list[Setting]:
    """The launch parts plans may have: all that were measured, or in the classic way what the steps arrive at."""
    possible = launches_of(list(group.values()))
    if steps_to is not None:
        reached = {end for selection in steps_to for end in (selection.chosen, selection.plain)}
        reached |= {selection.plain | {"coll": native} for selection in steps_to for native in NATIVE}
        possible = [launch for launch in possible if launch in reached or launch.is_default]
    case = next(iter(group.values())).case
    return [launch for launch in possible if out.allows(launch, case.nodes, case.ppn, scope)]


def _plans(
    group: Mapping[str, Table],
    launches: Sequence[Setting],
    weights: Mapping[str, float] | None,
    margin: float,
    confidence: float,
) -> list[Plan]:
    every = build(group, margin, confidence, launches, weights)
    return ordered(worthwhile(every, margin), counted(group, weights), margin)
