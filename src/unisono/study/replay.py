"""Replays a recorded study: answers a search with samples measured before, at the cost they had then.

Lets searches be compared in seconds on real measurements, launch effects and outliers included
(benchmarks/search_cost.py).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from unisono.core.vocabulary import Case, Sample, Setting
from unisono.study.config import Measure
from unisono.study.data import Refusal
from unisono.study.engine import Task

_OVERHEAD = 1.5
"""Warm-up and result check on top of the timed repetitions."""


class Replay:
    """A Runner over recorded samples. Round r of a search gets the launches of the recording's r-th round.

    A recorded launch holds one (case, setting) as classic studies do, so a sweeping search, whose launch holds many
    settings, is charged one start a launch and the measuring of everything in it. `rounds` are the recorded rounds
    that may be used; a search that wants more of them is told that its budget is spent. `measure` is how long the
    search would have measured each sample, of which the recording has as many repetitions or more.
    """

    def __init__(
        self, recorded: Iterable[Sample], *, rounds: Iterable[int], start_seconds: float, measure: Measure
    ) -> None:
        self._rounds = list(rounds)
        self._found: dict[tuple[int, Case, int, Setting], Sample] = {
            (s.round, s.case, s.size, s.setting): s for s in recorded
        }
        self._start_seconds = start_seconds
        self._measure = measure
        self._samples: list[Sample] = []
        self._used_up = False
        self.seconds = 0.0
        """What the launches so far would have cost."""
        self.launches = 0

    def run(self, task: Task) -> None:
        if task.round > len(self._rounds):
            self._used_up = True
            return
        self.launches += 1
        self.seconds += self._start_seconds
        for item in task.items:
            for setting in item.settings:
                sample = self._found.get((self._rounds[task.round - 1], item.case, item.size, setting))
                if sample is not None:
                    self._samples.append(replace(sample, launch=self.launches, round=task.round))
                    self.seconds += sample.mean * self._repetitions(sample) * _OVERHEAD

    def _repetitions(self, sample: Sample) -> int:
        seconds, fewest, most = self._measure.repetitions(sample.size)
        return min(sample.repetitions, most, max(fewest, round(seconds / sample.mean)))

    def exhausted(self) -> bool:
        return self._used_up

    def spent(self) -> float:
        return float(self._used_up)

    def samples(self) -> list[Sample]:
        return list(self._samples)

    def given_up(self) -> set[tuple[str, Setting]]:
        return set()

    def declined(self) -> list[Refusal]:
        return []


def mean_seconds(samples: Iterable[Sample], rounds: Iterable[int]) -> dict[tuple[Case, int, Setting], float]:
    """Mean over the given rounds of the launches' medians: what a fresh look at each setting found, in seconds."""
    wanted = set(rounds)
    found: dict[tuple[Case, int, Setting], list[float]] = defaultdict(list)
    for s in samples:
        if s.round in wanted:
            found[s.case, s.size, s.setting].append(s.median)
    return {key: sum(values) / len(values) for key, values in found.items()}
