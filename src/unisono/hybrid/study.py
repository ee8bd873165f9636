"""A hybrid study read back from its file: for its page, for comparing it with others, for its layouts."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass

from unisono.core.errors import UserError
from unisono.core.language import N_, _
from unisono.hybrid.decide import Decision, decide
from unisono.hybrid.run import Result, results
from unisono.hybrid.variants import Variant
from unisono.study.data import LaunchRow, StudyData
from unisono.study.rows import TEXT
from unisono.study.store import Store

METHOD = "hybrid"
SOLVER_METRIC = N_("time to solution")


@dataclass(frozen=True, slots=True)
class HybridStudy:
    data: StudyData
    program: str
    """What was run: "solver 64", or the user's command line."""
    metric: str
    results: tuple[Result, ...]
    decision: Decision


def is_hybrid(store: Store) -> bool:
    return store.meta("method") == METHOD


def metric_of(store: Store) -> str:
    """What decides: "time to solution", "wall time", or a regular expression."""
    return store.value_or_none("metric", TEXT) or N_("wall time")


_FAILED = {
    "refused": N_("{layout}: the launch was refused ({reason})"),
    "crashed": N_("{layout}: the launch crashed ({reason})"),
    "hung": N_("{layout}: the launch hung ({reason})"),
    "wrong placement": N_("{layout}: the launch did not place ranks as asked ({reason})"),
    "protocol": N_("{layout}: the launch did not answer as it should ({reason})"),
    "no metric": N_("{layout}: the launch gave no figure to compare ({reason})"),
}
"""Per status of a launch the sentence on it."""


def failures(launches: Iterable[LaunchRow]) -> list[str]:
    """One sentence for each way in which a variant failed."""
    ended = ("done", "interrupted", "running")
    return sorted({_failure(row) for row in launches if row.status not in ended})


def _failure(row: LaunchRow) -> str:
    said = _FAILED.get(row.status, N_("{layout}: the launch failed ({reason})"))
    return said.format(layout=Variant.of(row.nodes, row.setting).name, reason=row.reason)


def read(store: Store) -> HybridStudy:
    """Raises UserError when it holds no results yet."""
    data = store.data()
    compared = sorted(
        {Variant.of(launch.nodes, launch.setting) for launch in data.launches}, key=lambda variant: variant.position
    )
    measured = results(store, compared)
    decision = decide(measured, compared, data.confidence)
    if decision is None:
        raise UserError(
            _("{path}: holds no results yet; continue it with: unisono hybrid --resume -o {folder}").format(
                path=store.path, folder=shlex.quote(str(store.path.parent))
            )
        )
    return HybridStudy(data, store.config, metric_of(store), tuple(measured), decision)
