"""What a search will launch, as far as it can be known before, and how long it may take."""

from __future__ import annotations

from dataclasses import dataclass

from unisono.search import classic, race
from unisono.study.config import Study
from unisono.study.engine import Task
from unisono.study.estimate import RACE_LAUNCHES, RACE_SAMPLES, start_seconds, work_seconds
from unisono.study.matrix import Matrix

_AT_THE_END = 90.0
"""Seconds of a job that are kept for deciding and writing; batch systems end jobs a minute early, or late."""
_OF_THE_PROOF = 0.3
"""Of a job's time: what the proof takes after a study of some minutes, and what is left over harms nobody."""


def within_job(asked: float | None, left: float | None, *, proof: bool) -> float | None:
    """The budget, or less where the job that we are in ends before; `left`: seconds until then, None: nobody knows."""
    if left is None:
        return asked
    most = max(1.0, left * (1 - _OF_THE_PROOF if proof else 1) - _AT_THE_END)
    return most if asked is None else min(asked, most)


@dataclass(frozen=True, slots=True)
class Estimate:
    launches: int
    samples: int
    seconds: float


def planned(study: Study, matrix: Matrix) -> list[Task]:
    """All launches of a classic study; of a race those nobody can know yet are left out: its first round."""
    if study.method.name == "classic":
        return list(classic.tasks(matrix, study))
    return race.first_round(matrix, study)


def estimate(study: Study, matrix: Matrix) -> Estimate:
    tasks = planned(study, matrix)
    # Nobody can know how long a race will be; these are what races to the end came to.
    launches, samples = (1.0, 1.0) if study.method.name == "classic" else (RACE_LAUNCHES, RACE_SAMPLES)
    seconds = sum(
        launches * start_seconds(task.nodes * task.ppn) + samples * work_seconds(study, task) for task in tasks
    )
    return Estimate(
        launches=round(len(tasks) * launches),
        samples=round(sum(task.samples for task in tasks) * samples),
        seconds=seconds,
    )
