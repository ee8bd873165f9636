"""The procedure of Oracle's tuning guides: every combination, each in launches of its own, the whole matrix five times.

One launch measures one collective under one setting over all message sizes, as one run of IMB does. Rounds follow
each other, and within a round the order is shuffled, so the machine's drift hits all settings alike.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from unisono.study.config import Study
from unisono.study.engine import Item, Runner, Task
from unisono.study.matrix import Matrix


def tasks(matrix: Matrix, study: Study) -> Iterator[Task]:
    """All launches in the order they are made; the same for the same study, so that it can be resumed."""
    for round in range(1, study.method.launches + 1):
        launches = [
            Task(
                setting,
                c.case.nodes,
                c.case.ppn,
                round,
                tuple(Item(c.case, size, (setting,), c.condition) for size in c.sizes),
            )
            for c in matrix.cases
            for setting in c.settings
        ]
        random.Random(f"{study.method.seed}/{round}").shuffle(launches)
        yield from launches


def run(matrix: Matrix, study: Study, runner: Runner) -> bool:
    """Measures everything, or stops when the budget is spent and returns False.

    What is already measured is not measured again.
    """
    for task in tasks(matrix, study):
        if runner.exhausted():
            return False
        runner.run(task)
    return True
