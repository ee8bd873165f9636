"""Runs a study's search, whichever its method is, on the real machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from unisono.machine.description import Machine
from unisono.search import classic, race
from unisono.study.config import Study
from unisono.study.data import ENDED, NEVER
from unisono.study.engine import Engine, Runner, Task
from unisono.study.matrix import Matrix
from unisono.study.ours import Ours
from unisono.study.store import Store


@dataclass(frozen=True, slots=True)
class Hooks:
    """What hears of a measurement's progress: see study.engine.Engine and search.race.run."""

    measured: Callable[[Task, int], None] = lambda task, samples: None
    planned: Callable[[int], None] = lambda samples: None
    waiting: Callable[[float, float], None] = lambda state, usual: None


def search(
    store: Store,
    study: Study,
    matrix: Matrix,
    machine: Machine,
    program: Path,
    budget: float | None,
    hooks: Hooks,
    ours: Ours | None = None,
) -> bool:
    """Measures into `store` for at most `budget` seconds; whether the search came to its end before. `program` is
    unisono-bench, `ours` our library where the study wants it."""
    engine = Engine(
        store,
        machine,
        program,
        scope=matrix.scope,
        measure=study.measuring,
        oversubscribe=study.cases.oversubscribe,
        ours=ours,
        budget=budget,
        progress=hooks.measured,
        waiting=hooks.waiting,
    )
    settled = searched(engine, study, matrix, hooks)
    store.set_meta(ENDED, settled or not (engine.exhausted() or engine.stopped))
    store.set_meta(NEVER, never_launched(store, study, matrix))
    engine.conclude()
    return settled


def never_launched(store: Store, study: Study, matrix: Matrix) -> list[str]:
    """The launch settings that a race was to compare, and that had no time for even one launch. A classic study's
    steps depend on one another, so of them nothing can be said."""
    if study.method.name == "classic":
        return []
    launched = {(row.setting, row.nodes, row.ppn) for row in store.launches()}
    tasks = race.first_round(matrix, study)
    return sorted({str(task.setting) for task in tasks if (task.setting, task.nodes, task.ppn) not in launched})


def searched(runner: Runner, study: Study, matrix: Matrix, hooks: Hooks) -> bool:
    """Whether the search by this runner came to its end."""
    if study.method.name == "classic":
        return classic.run(matrix, study, runner)
    return race.run(matrix, study, runner, hooks.planned)
