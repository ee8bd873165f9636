"""The samples of a study, made of what its database holds. There may be a million."""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from unisono.core.vocabulary import Case, Sample, Setting
from unisono.study import rows as kept

STATISTICS = (
    "repetitions",
    "discarded",
    "sync",
    *("minimum", "q1", "median", "q3", "p95", "mean", "trimmed"),
    "correct",
    "state",
    "condition",
    "inside",
)
"""What is read of each beside its launch, case, size and setting: the last fields of a Sample, in their order."""


def made(parts: Iterable[Sequence[Sequence[Any]]], setting: Callable[[str], Setting], path: Path) -> list[Sample]:
    """`parts` have a column each for launch, round, collective, nodes, ppn, size, setting's key, and STATISTICS."""
    condition = functools.cache(lambda key: kept.condition_of(key, path))
    # One object a case: what compares cases then is told at once that two are the same.
    case = functools.cache(Case)
    samples: list[Sample] = []
    with _without_collecting():
        for launch, round, collective, nodes, ppn, size, key, *values in parts:
            statistics = dict(zip(STATISTICS, values, strict=True))
            statistics["correct"] = [None if right is None else bool(right) for right in statistics["correct"]]
            statistics["condition"] = list(map(condition, statistics["condition"]))
            cases = map(case, collective, nodes, ppn)
            samples += map(Sample, launch, round, cases, size, map(setting, key), *statistics.values())
    return samples


@contextmanager
def _without_collecting() -> Iterator[None]:
    """All that is made here lives on; to look for garbage among it again and again takes longer than to make it."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
