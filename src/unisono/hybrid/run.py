"""Runs variants in turns, one launch each a round, and keeps every result in the study file at once."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from unisono.advise.runs import Metric
from unisono.advise.timed import Timed, timed
from unisono.cmdline.command import Command
from unisono.core.errors import UserError
from unisono.core.language import N_, _
from unisono.hybrid.solver import answer_of, checked_answer
from unisono.hybrid.variants import Variant
from unisono.launch.process import Finished
from unisono.study.rows import PROGRAM
from unisono.study.store import Statistics, Store

_REFUSAL = "unisono-solver: "
"""How the solver begins when it says that it will not: no memory, more parts than nodes."""
_HOPELESS = 2
"""Failures of a variant after which it is not tried again."""

_MOST = 3
"""Times as many rounds as asked for, when some have to be repeated."""


@dataclass(frozen=True, slots=True)
class Result:
    """One launch. `seconds` is the metric; None: it failed, `reason` says how, and `status` in a word."""

    round: int
    variant: Variant
    seconds: float | None
    reason: str
    answer: dict[str, Any]
    """What the solver printed; of a user's program {}."""
    status: str = "done"


def order(variants: Sequence[Variant], round: int) -> list[Variant]:
    """Another one each round, the same whenever it is asked."""
    mixed = list(variants)
    random.Random(round).shuffle(mixed)
    return mixed


def measure(
    store: Store,
    variants: Sequence[Variant],
    line_of: Callable[[Variant], Command],
    metric: Metric | None,
    *,
    rounds: int,
    deadline: float,
    budget: float | None,
    repeat: Callable[[Sequence[Result]], bool] = lambda measured: False,
    begins: Callable[[int, Variant], None] = lambda round, variant: None,
    progress: Callable[[Result, int, int], None] = lambda result, done, total: None,
) -> bool:
    """`rounds` launches of every variant; `metric` None: unisono-solver's own answer. What an earlier run of the driver
    measured is not measured again. After that a further round is run for as long as `repeat` wants one, given all that
    was measured, up to _MOST times as many. False when the budget (seconds) ended it first.

    Raises UserError when the very first launch ends well and has no metric: the others would have none either.
    """
    measured = results(store, variants)
    held = {(r.round, r.variant) for r in measured}
    begun, done = time.monotonic(), len(held)
    hopeless = _failures(store, variants)
    for round in range(_MOST * rounds):
        is_begun = any((round, variant) in held for variant in variants)
        left = [variant for variant in order(variants, round) if hopeless.get(variant, 0) < _HOPELESS]
        if round >= rounds and not is_begun and not (left and repeat(measured)):
            break
        for variant in left:
            if (round, variant) in held:
                continue
            if budget is not None and time.monotonic() - begun > budget:
                return False
            begins(round, variant)
            result = _launch(store, round, variant, line_of(variant), metric, deadline)
            if result.seconds is None:
                hopeless[variant] = hopeless.get(variant, 0) + _weight(result.status)
            else:
                measured.append(result)
            done += 1
            progress(result, done, max(rounds, round + 1) * len(variants))
            if done == 1 and metric is not None and result.status in ("no metric", "protocol"):
                where = "" if result.status == "protocol" else "metric: "
                raise UserError(
                    _("{where}{reason}; run the program once and look at what it prints").format(
                        where=where, reason=result.reason
                    )
                )
    return True


def _launch(
    store: Store, round: int, variant: Variant, line: Command, metric: Metric | None, deadline: float
) -> Result:
    """One launch, kept whatever happens to it."""
    processes = variant.layout.processes
    launch = store.begin_launch(variant.setting, variant.nodes, processes, round, line.shell, False)
    answer: dict[str, Any] = {}
    begun = time.monotonic()
    run = Timed("interrupted", N_("the driver stopped"), None, 0.0)

    def solved(finished: Finished) -> float:
        answer.update(answer_of(finished.stdout))
        return float(answer["seconds"])

    try:
        run = timed(line, deadline, metric.of if metric is not None else solved)
        if metric is None and _REFUSAL in run.reason:
            run = replace(run, status="refused", reason=run.reason.partition(_REFUSAL)[2])
    except UserError as error:
        run = Timed("protocol", str(error), None, time.monotonic() - begun)
    finally:
        with store.together():
            if run.value is not None:
                store.add_sample(launch, PROGRAM, 0, variant.setting, _single(run.value), b"")
            took = run.seconds or time.monotonic() - begun
            store.end_launch(launch, run.status, run.reason, took, run.stderr, answer or None)
    return Result(round, variant, run.value, run.reason, answer, run.status)


def _single(seconds: float) -> Statistics:
    s = seconds
    return Statistics(1, 0, "program", s, s, s, s, s, s, s, correct=None)


def results(store: Store, variants: Sequence[Variant]) -> list[Result]:
    """Everything measured so far for these variants, by this run of the driver and those before."""
    known = {(v.setting, v.nodes): v for v in variants}
    answers = {
        launch: checked_answer(
            answer,
            _("{path}: is damaged: what the solver said in launch {launch}").format(path=store.path, launch=launch),
        )
        for launch, answer in store.hellos().items()
        if answer
    }
    return [
        Result(sample.round, known[key], sample.median, "", answers.get(sample.launch, {}))
        for sample in store.samples()
        if (key := (sample.setting, sample.case.nodes)) in known and sample.median > 0
    ]


def _failures(store: Store, variants: Sequence[Variant]) -> dict[Variant, int]:
    known = {(v.setting, v.nodes): v for v in variants}
    found: dict[Variant, int] = {}
    for launch in store.launches():
        variant = known.get((launch.setting, launch.nodes))
        if variant is not None and launch.status not in ("done", "interrupted", "running"):
            found[variant] = found.get(variant, 0) + _weight(launch.status)
    return found


def _weight(status: str) -> int:
    """Of a failure: what was refused once will be again, what crashed may not."""
    return _HOPELESS if status == "refused" else 1
