"""Measures just what a program uses: its collectives, ranks and message sizes, through the machinery of a study."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from unisono.advise.evidence import Evidence, StudyEvidence, TuningEvidence
from unisono.advise.kinds import MEASURED
from unisono.advise.mix import Mix
from unisono.core.errors import UserError
from unisono.core.interval import Interval
from unisono.core.language import N_, _
from unisono.core.vocabulary import CALL_SCOPE, COMBINING, DEFAULT, EXACT, USUAL, Case, Condition, blocking
from unisono.decide.disqualify import NO_FAULT, disqualify
from unisono.decide.document import from_decision
from unisono.decide.plans import build, launches_of
from unisono.decide.table import Table, tables
from unisono.machine.description import Machine
from unisono.search.search import Hooks, search
from unisono.search.verdict import decide_study
from unisono.study.begin import begin, resume, stored_candidates, stored_study
from unisono.study.config import Cases, Sizes, Study, read_study, ready_made
from unisono.study.data import NEVER, StudyData
from unisono.study.matrix import Matrix, expand
from unisono.study.ours import Ours, prepare
from unisono.study.rows import words
from unisono.study.store import Store
from unisono.tuning.contents import Tuning

BASE = "quick"
"""The ready-made study whose parameters are tried."""
_NUMBER = 4
"""A reduction is measured on numbers of 4 bytes."""

Wanted = Mapping[Case, Sequence[int]]
"""Case -> message sizes."""


def study_for(wanted: Wanted, machine: Machine, weights: Mapping[str, float] | None = None) -> Study:
    """The study of these cases and sizes, with the parameters of the quick one. Sizes smaller than a reduction's
    numbers are measured as one number. Raises UserError when nothing is wanted."""
    if not wanted:
        raise UserError(_("there is nothing to measure: the program makes no call of a collective that is measured"))
    path = ready_made(BASE)
    if path is None:
        raise UserError(_("the ready-made study {base} is missing from this installation").format(base=BASE))
    base = read_study(path)[0]
    sizes = sorted({size for found in adjusted(wanted).values() for size in found})
    names = list(dict.fromkeys(case.collective for case in wanted))
    ppn = sorted({case.ppn for case in wanted})
    return base.model_copy(
        update={
            "study": base.study.model_copy(update={"name": "program", "description": "What one program uses"}),
            "cases": Cases(
                collectives=names,
                nodes=sorted({case.nodes for case in wanted}),
                ppn=list(ppn),
                oversubscribe=max(ppn) > len(machine.cpus),
            ),
            "sizes": Sizes.model_validate({"from": sizes[0], "to": sizes[-1], "step": 1e300, "extra": sizes}),
            "method": base.method.model_copy(update={"budget": None}),
            "weights": {name: weight for name, weight in (weights or {}).items() if name in names and weight > 0},
        }
    )


def adjusted(wanted: Wanted) -> dict[Case, tuple[int, ...]]:
    """The sizes as they can be measured."""
    least = {case: _NUMBER if blocking(case.collective) in COMBINING else 0 for case in wanted}
    return {case: tuple(sorted({max(size, least[case]) for size in sizes})) for case, sizes in wanted.items()}


def matrix_for(
    study: Study,
    machine: Machine,
    wanted: Wanted,
    ours: Ours | None = None,
    conditions: Mapping[Case, Condition] | None = None,
) -> Matrix:
    """What the study measures: of all its combinations only the cases and sizes that are wanted, under the program's
    conditions. Raises UserError as `expand` does, and when nothing of it fits in memory."""
    conditions = conditions or {}
    asked = adjusted(wanted)
    whole = expand(study, machine, scope=CALL_SCOPE, ours=ours.candidates if ours else None)
    kept = []
    for c in whole.cases:
        sizes = tuple(size for size in c.sizes if size in asked.get(c.case, ()))
        if sizes:
            kept.append(replace(c, sizes=sizes, condition=conditions.get(c.case, c.condition)))
    if not kept:
        raise UserError(_("none of the message sizes the program uses can be measured in this node's memory"))
    said = tuple(
        N_("{case}: measured with {condition}, as the program has them.").format(case=c.case, condition=c.condition)
        for c in kept
        if c.condition != USUAL
    )
    return replace(whole, cases=tuple(kept), notes=(*whole.notes, *said))


def measure(
    path: Path,
    study: Study,
    wanted: Wanted,
    machine: Machine,
    program: Path,
    budget: float,
    hooks: Hooks | None = None,
    conditions: Mapping[Case, Condition] | None = None,
) -> bool:
    """Measures into the study at `path`, continuing one that is there, for at most `budget` seconds, in which our
    library is also built where it has to be; whether the search came to its end. `conditions` are the program's, case
    by case; a file holds one for each case. `program` is unisono-bench. Raises UserError as `begin` and `resume` do."""
    began = time.monotonic()
    ours = _ours(path, study, machine, program)
    matrix = matrix_for(study, machine, wanted, ours, conditions)
    if path.exists():
        opened = resume(path, machine, asked=None, force=False)
    else:
        opened = begin(path, study, machine, matrix, ours)
    with opened as store:
        left = max(0.0, budget - (time.monotonic() - began))
        return search(store, stored_study(store), matrix, machine, program, left, hooks or Hooks(), ours)


def never_launched(paths: Sequence[Path]) -> list[str]:
    """The launch settings that these studies were to compare and that had no time for even one launch. Raises
    UserError for a study that cannot be read."""
    found: set[str] = set()
    for path in paths:
        with Store.open(path) as store:
            found.update(words(store.meta_or_none(NEVER), NEVER, store.path))
    return sorted(found)


def _ours(path: Path, study: Study, machine: Machine, program: Path) -> Ours | None:
    """Our library with what it offers; a study that was begun without it goes on without, one can do without."""
    stored = None
    if path.exists():
        with Store.open(path) as store:
            stored = stored_candidates(store)
        if stored is None:
            return None
    try:
        return prepare(study, machine, program, stored=stored)
    except UserError:
        if stored is not None:
            raise
        return None


def merged(paths: Sequence[Path]) -> StudyData:
    """What several studies of one machine hold, as one: launches and rounds numbered on."""
    whole: StudyData | None = None
    for path in paths:
        with Store.open(path) as store:
            data = store.data()
        if whole is None:
            whole = data
            continue
        launch = max((sample.launch for sample in whole.samples), default=0)
        launch = max(launch, max((row.id for row in whole.launches), default=0))
        round = max((row.round for row in whole.launches if row.round != EXACT), default=0)
        whole = replace(
            whole,
            samples=(
                *whole.samples,
                *(replace(s, launch=s.launch + launch, round=_behind(round, s.round)) for s in data.samples),
            ),
            launches=(
                *whole.launches,
                *(replace(r, id=r.id + launch, round=_behind(round, r.round)) for r in data.launches),
            ),
            refusals=(*whole.refusals, *(replace(r, launch=r.launch + launch) for r in data.refusals)),
            limits={**data.limits, **whole.limits},
            never=tuple(dict.fromkeys((*whole.never, *data.never))),
            notes=tuple(dict.fromkeys((*whole.notes, *data.notes))),
            nodes_share_cpus=whole.nodes_share_cpus or data.nodes_share_cpus,
            weights={**data.weights, **whole.weights} if whole.weights and data.weights else {},
        )
    if whole is None:
        raise UserError(_("there is no study to read"))
    return whole


def _behind(rounds: int, own: int) -> int:
    """A round of a study behind the rounds of others; what is exact stays so."""
    return own if own == EXACT else own + rounds


def known(paths: Sequence[Path]) -> tuple[Tuning, list[Evidence]] | None:
    """What these studies decide together, and what they know; None while there is nothing."""
    data = merged(paths) if paths else None
    if data is None or not data.samples:
        return None
    tuning = tuning_of(data)
    return tuning, [StudyEvidence(data, tuning), TuningEvidence(tuning)]


def tuning_of(data: StudyData) -> Tuning:
    """What a study decides, with every plan that was measured, proven or not: a trial on the program will tell.

    Raises UserError when the study holds nothing to decide from.
    """
    decision = decide_study(data)
    ordered = sorted(data.samples, key=lambda s: (s.case, s.size, s.setting, s.launch))
    failures = [launch for launch in data.launches if launch.status not in NO_FAULT]
    out = disqualify(ordered, failures, data.refusals, data.scope)
    kept = [sample for sample in ordered if out.keeps(sample, data.scope)]
    plans = list(decision.plans)
    groups: dict[tuple[int, int], dict[str, Table]] = {}
    for case, table in tables(kept, decision.statistic).items():
        if DEFAULT in table:
            groups.setdefault((case.nodes, case.ppn), {})[case.collective] = table
    for (nodes, ppn), group in groups.items():
        there = {plan.launch for plan in plans if (plan.nodes, plan.ppn) == (nodes, ppn)}
        possible = [
            launch for launch in launches_of(list(group.values())) if out.allows(launch, nodes, ppn, data.scope)
        ]
        built = build(group, data.margin, data.confidence, possible)
        plans += [plan for plan in built if plan.launch not in there and plan.gain]
    return from_decision(replace(decision, plans=tuple(plans)), data)


def unchanged(tuning: Tuning) -> Tuning:
    """The tuning that sets nothing: what is left when nothing was to be gained."""
    one = Interval(1.0, 1.0, 1.0)
    plans = tuple(
        replace(plan, rules=(), gain=dict.fromkeys(plan.gain, one)) for plan in tuning.plan if plan.launch == DEFAULT
    )
    return tuning.model_copy(update={"plan": plans})


def weights_of(mix: Mix) -> dict[str, float]:
    """Collective -> part of the program's time in its calls that can be measured."""
    shares: dict[str, float] = {}
    for spot in mix.spots:
        if spot.kind in MEASURED and spot.case is not None:
            name = spot.case.collective
            shares[name] = shares.get(name, 0.0) + mix.share(spot.time)
    return shares
