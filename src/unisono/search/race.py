"""The default search: all settings start on a few message sizes, and only what is still in doubt is launched again.

What is in doubt is decided from the samples of finished rounds alone (unisono.decide.race), so a study that was
killed in the middle of a round takes up exactly that round again.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Collection

from unisono.core.vocabulary import Case, Setting, launch_part
from unisono.decide.race import RaceConfig, RaceState, survivors
from unisono.study.config import Study
from unisono.study.engine import Item, Runner, Task
from unisono.study.matrix import Matrix

_FIRST = 0.25
"""The first round may take this share of the budget: what was launched once and never again decides nothing. Beyond it
settings wait until those that were launched are settled."""
_MOST = 1.6
"""What is ahead but not proven gets this many times the launches at which differences within the margin are ties: with
five, 8 rounds, in which the race picked as well as all combinations in every order of rounds (benchmarks/search_cost);
what they leave unproven seldom gets proven soon after."""


def first_round(matrix: Matrix, study: Study) -> list[Task]:
    """The launches of round 1: everything, on a quarter of the sizes and one."""
    config = _config(matrix, study, set())
    return _tasks(survivors((), config), config, matrix, study, 1)


def run(
    matrix: Matrix,
    study: Study,
    runner: Runner,
    planned: Callable[[int], None] = lambda samples: None,
) -> bool:
    """Measures until the decision cannot change, everything had its launches, or the budget is spent.

    `planned` is told how many samples the study will have after each round that is now known. Returns whether the
    decision is settled; False when the budget ended it first or doubts remain after the most launches allowed.
    """
    settled, waiting = _race(matrix, study, runner, planned, _FIRST)
    if waiting and not runner.exhausted():
        settled, waiting = _race(matrix, study, runner, planned, 1.0)
    return settled and not waiting


def _race(
    matrix: Matrix, study: Study, runner: Runner, planned: Callable[[int], None], first: float
) -> tuple[bool, frozenset[Setting]]:
    """One race, whose first round may take this share of the budget. Returns whether the decision is settled, between
    all but the launch settings that had to wait, and which did."""
    total = 0
    waiting: frozenset[Setting] = frozenset()
    asked: set[tuple[Case, int]] = set()
    for round in range(1, round_limit(study) + 1):
        config = _config(matrix, study, runner.given_up(), waiting, asked)
        state = survivors([s for s in runner.samples() if s.round < round], config, refusals=runner.declined())
        if state.settled:
            return True, waiting
        asked |= {(case, size) for case, sizes in state.wanted.items() for size in sizes}
        tasks = _tasks(state, config, matrix, study, round)
        planned(total + sum(task.samples for task in tasks))
        for number, task in enumerate(tasks):
            if runner.exhausted():
                return False, waiting
            if round == 1 and runner.spent() > first and not task.setting.is_default:
                waiting = frozenset(task.setting for task in tasks[number:])
                del tasks[number:]
                break
            runner.run(task)
        total += sum(task.samples for task in tasks)
    config = _config(matrix, study, runner.given_up(), waiting, asked)
    return survivors(runner.samples(), config, refusals=runner.declined()).settled, waiting


def round_limit(study: Study) -> int:
    return math.ceil(study.method.launches * _MOST)


def _config(
    matrix: Matrix,
    study: Study,
    given_up: Collection[tuple[str, Setting]],
    waiting: Collection[Setting] = (),
    asked: Collection[tuple[Case, int]] = (),
) -> RaceConfig:
    return RaceConfig(
        settings={
            c.case: [
                setting
                for setting in c.settings
                if (c.case.collective, setting) not in given_up and launch_part(setting, matrix.scope) not in waiting
            ]
            for c in matrix.cases
        },
        sizes={c.case: c.sizes for c in matrix.cases},
        asked=frozenset(asked),
        scope=matrix.scope,
        weights=study.weights,
        margin=study.method.margin,
        confidence=study.method.confidence,
        ties_after=study.method.launches,
        most_launches=round_limit(study),
    )


def _tasks(state: RaceState, config: RaceConfig, matrix: Matrix, study: Study, round: int) -> list[Task]:
    """One launch for each launch-scope setting still needed, in an order shuffled anew each round."""
    conditions = {c.case: c.condition for c in matrix.cases}
    tasks = []
    for (nodes, ppn), launches in state.launches.items():
        for launch in launches:
            items = [
                Item(case, size, tuple(s), conditions[case])
                for case, size, s in state.items(launch, nodes, ppn, config.scope)
            ]
            order = random.Random(f"{study.method.seed}/{round}/{launch.key}")
            order.shuffle(items)
            if items:
                tasks.append(Task(launch, nodes, ppn, round, tuple(items)))
    random.Random(f"{study.method.seed}/{round}").shuffle(tasks)
    if round == 1:
        # Whatever ends the study early, there is something to compare with, and what differs in one thing from it; over
        # nodes the component makes the most difference.
        tasks.sort(key=lambda task: (len(task.setting), "coll" not in task.setting))
    return tasks
