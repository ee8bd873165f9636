"""Search and decision on timings that somebody else measured, on a machine none of us has used.

    python benchmarks/published.py PICO/mare_nostrum

The argument is a system's directory as PICO (HLC-Lab/pico, MIT) publishes it, with its jobs (STAMP or STAMP.tar.gz) in
it and SYSTEM_metadata.csv beside it. Every algorithm of the MPI was forced there, one by one; repetitions are kept.

What is replayed: each run's repetitions are cut into eleven blocks, in order. A block stands for a launch: the race
sees the first eight, the picks are judged by the last three. What a fresh start of the MPI or another allocation
changes is not in these data, so differences between launches are smaller here than they are in reality.

The table, per case: time of the default, of our pick and of a wrong pick (the mean of all algorithms, and the slowest)
over that of the best of the library's algorithms; and the latter's over the best of all, PICO's own included. Geometric
means over message sizes. The best is picked by the very blocks it is judged by, which flatters it a little.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np
from rich.console import Console
from rich.table import Table

from unisono.core.errors import UserError
from unisono.core.vocabulary import CALL_SCOPE, DEFAULT, Case, Sample, Setting
from unisono.decide.decide import decide
from unisono.results.found import Found, Seconds
from unisono.results.pico import Timing, is_job, setting_of, timings
from unisono.search import race
from unisono.study.config import About, Cases, Measure, Method, Study
from unisono.study.engine import Task
from unisono.study.matrix import CaseMatrix, Matrix
from unisono.study.replay import Replay
from unisono.tuning.choosing import choose
from unisono.tuning.plans import Plan

BLOCKS = 11
SEEN = range(1, 9)
FRESH = range(9, 12)
BUDGETS = (0.05, 0.1, 0.25, 0.5, 1.0)
"""Shares of what measuring everything five times takes."""
CLASSIC = 5

Cell = tuple[Case, int]


@dataclass(frozen=True)
class Published:
    samples: Sequence[Sample]
    """Of the library's algorithms; a block a sample."""
    others: Mapping[Cell, Mapping[str, float]]
    """Cell -> algorithm of the benchmark's own -> seconds, in the fresh blocks."""
    versions: frozenset[str]


class Bounded(Replay):
    """A replay that ends when its measuring has taken `budget` seconds."""

    budget = math.inf

    def run(self, task: Task) -> None:
        if self.seconds < self.budget:
            super().run(task)

    def exhausted(self) -> bool:
        return super().exhausted() or self.seconds >= self.budget


def load(system: Path) -> Published:
    """The jobs of a system. A case that several jobs measured is taken from the one that has most of it."""
    by_case: dict[Case, dict[str, list[Timing]]] = defaultdict(lambda: defaultdict(list))
    versions = set()
    for job in sorted(path for path in system.iterdir() if is_job(path)):
        found = Found("pico")
        try:
            for timing in timings(job, found):
                about = timing.about
                by_case[Case(about.collective, about.nodes, about.ppn)][timing.test].append(timing)
                versions.add(f"{about.library} {about.version}")
        except UserError as error:
            print(f"left out: {error}", file=sys.stderr)
    samples: list[Sample] = []
    others: dict[Cell, dict[str, float]] = defaultdict(dict)
    for case, tests in sorted(by_case.items()):
        for timing in max(tests.values(), key=len):
            blocks = np.array_split(timing.seconds, BLOCKS)
            if len(blocks[-1]) == 0:
                continue
            setting = setting_of(timing.algorithm)
            if setting is None:
                fresh = [float(np.median(blocks[number - 1])) for number in FRESH]
                others[case, timing.size][timing.algorithm] = fmean(fresh)
            else:
                samples += [_sample(case, timing.size, setting, n, block) for n, block in enumerate(blocks, start=1)]
    held = {(s.case, s.size) for s in samples if s.setting == DEFAULT}
    return Published([s for s in samples if (s.case, s.size) in held], others, frozenset(versions))


def _sample(case: Case, size: int, setting: Setting, number: int, seconds: Seconds) -> Sample:
    q1, median, q3, p95 = (float(value) for value in np.quantile(seconds, (0.25, 0.5, 0.75, 0.95)))
    mean = float(seconds.mean())
    return Sample(
        launch=number,
        round=number,
        case=case,
        size=size,
        setting=setting,
        repetitions=len(seconds),
        discarded=0,
        sync="imported",
        minimum=float(seconds.min()),
        q1=q1,
        median=median,
        q3=q3,
        p95=p95,
        mean=mean,
        trimmed=mean,
        correct=None,
    )


def fresh_seconds(samples: Iterable[Sample]) -> dict[Cell, dict[Setting, float]]:
    """What each setting took in the blocks that no search has seen."""
    found: dict[Cell, dict[Setting, list[float]]] = defaultdict(lambda: defaultdict(list))
    for s in samples:
        if s.round in FRESH:
            found[s.case, s.size][s.setting].append(s.median)
    return {cell: {setting: fmean(v) for setting, v in settings.items()} for cell, settings in found.items()}


def matrix_of(samples: Iterable[Sample]) -> Matrix:
    cases: dict[Case, tuple[set[int], set[Setting]]] = defaultdict(lambda: (set(), set()))
    for s in samples:
        cases[s.case][0].add(s.size)
        cases[s.case][1].add(s.setting)
    return Matrix(
        tuple(CaseMatrix(c, tuple(sorted(sizes)), tuple(sorted(which))) for c, (sizes, which) in sorted(cases.items())),
        (),
        CALL_SCOPE,
    )


def searched(samples: Sequence[Sample], share: float) -> tuple[dict[Cell, Setting], float]:
    """The pick at each cell by a race over one case, and how much of measuring everything it took."""
    matrix = matrix_of(samples)
    case = matrix.cases[0].case
    study = Study(
        study=About(name="published"),
        cases=Cases(collectives=["allreduce"], nodes=[case.nodes], ppn=[case.ppn]),
        method=Method(name="race", launches=CLASSIC),
    )
    every = sum(s.mean * s.repetitions * 1.5 for s in samples if s.round <= CLASSIC)
    replay = Bounded(samples, rounds=SEEN, start_seconds=0.0, measure=Measure(seconds=1e9))
    replay.budget = every * share
    race.run(matrix, study, replay)
    try:
        found = decide(replay.samples(), method="race", scope=CALL_SCOPE)
    except UserError:  # not even the default was measured
        return {(case, size): DEFAULT for size in matrix.cases[0].sizes}, replay.seconds / every
    plan = choose([p for p in found.plans if (p.nodes, p.ppn) == (case.nodes, case.ppn)], None, found.margin)
    return {
        (case, size): of_plan(plan, case.collective, size) for size in matrix.cases[0].sizes
    }, replay.seconds / every


def of_plan(plan: Plan, collective: str, size: int) -> Setting:
    for rule in plan.rules:
        if rule.collective == collective and rule.first <= size and (rule.last is None or size <= rule.last):
            return plan.launch | rule.call
    return plan.launch


def mean_ratio(ratios: Iterable[float]) -> float:
    logs = [math.log(ratio) for ratio in ratios]
    return math.exp(fmean(logs)) if logs else math.nan


def judged(pick: Mapping[Cell, Setting], seconds: Mapping[Cell, Mapping[Setting, float]]) -> float:
    """Time of the pick over that of the best of the library's, geometric mean. What is not there is the default."""
    return mean_ratio(
        seconds[cell].get(setting, seconds[cell][DEFAULT]) / min(seconds[cell].values())
        for cell, setting in pick.items()
        if cell in seconds
    )


def by_case(published: Published) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    seconds = fresh_seconds(published.samples)
    for case in sorted({s.case for s in published.samples}):
        mine = [s for s in published.samples if s.case == case]
        cells = {cell: times for cell, times in seconds.items() if cell[0] == case}
        if max(len(times) for times in cells.values()) < 2:
            continue  # the default alone
        found = decide([s for s in mine if s.round in SEEN], method="race", scope=CALL_SCOPE)
        plan = choose(list(found.plans), None, found.margin)
        complete = {cell: of_plan(plan, case.collective, cell[1]) for cell in cells}
        budgets = {share: searched(mine, share) for share in BUDGETS}
        every = {
            cell: min([*times.values(), *published.others.get(cell, {}).values()]) for cell, times in cells.items()
        }
        rows.append(
            {
                "case": str(case),
                "sizes": len(cells),
                "algorithms": len({s.setting for s in mine}) - 1,
                "default": judged(dict.fromkeys(cells, DEFAULT), cells),
                "pick": {share: judged(pick, cells) for share, (pick, _spent) in budgets.items()},
                "spent": {share: spent for share, (_pick, spent) in budgets.items()},
                "everything": judged(complete, cells),
                "wrong": mean_ratio(mean_ratio(t.values()) / min(t.values()) for t in cells.values()),
                "slowest": mean_ratio(max(t.values()) / min(t.values()) for t in cells.values()),
                "best_of_all": mean_ratio(min(t.values()) / every[cell] for cell, t in cells.items()),
                "collective": case.collective,
                "nodes": case.nodes,
                "ppn": case.ppn,
            }
        )
    return rows


def carried(published: Published) -> list[dict[str, object]]:
    """What is decided on fewer nodes, used on more: same collective, same ranks a node."""
    seconds = fresh_seconds(published.samples)
    cases = sorted({s.case for s in published.samples})
    rows: list[dict[str, object]] = []
    for small in cases:
        for large in cases:
            if (small.collective, small.ppn) != (large.collective, large.ppn) or small.nodes >= large.nodes:
                continue
            found = decide(
                [s for s in published.samples if s.case == small and s.round in SEEN], method="race", scope=CALL_SCOPE
            )
            plan = choose(list(found.plans), None, found.margin)
            cells = {cell: times for cell, times in seconds.items() if cell[0] == large}
            own, _spent = searched([s for s in published.samples if s.case == large], 1.0)
            rows.append(
                {
                    "collective": small.collective,
                    "from": f"{small.nodes} x {small.ppn}",
                    "to": f"{large.nodes} x {large.ppn}",
                    "default": judged(dict.fromkeys(cells, DEFAULT), cells),
                    "carried": judged({c: of_plan(plan, large.collective, c[1]) for c in cells}, cells),
                    "own": judged(own, cells),
                }
            )
    return rows


def show(rows: Sequence[Mapping[str, object]], larger: Sequence[Mapping[str, object]]) -> None:
    console = Console(width=130)
    table = Table(title="Time over that of the best of the library's algorithms", title_justify="left")
    for name in ("case", "sizes", "algs", "default", *(f"{b:.0%}" for b in BUDGETS), "all", "wrong", "slowest"):
        table.add_column(name, justify="left" if name == "case" else "right")
    table.add_column("of all", justify="right")
    for row in rows:
        pick = row["pick"]
        assert isinstance(pick, dict)
        numbers = [row["default"], *pick.values(), row["everything"], row["wrong"], row["slowest"], row["best_of_all"]]
        table.add_row(str(row["case"]), str(row["sizes"]), str(row["algorithms"]), *(f"{n:.2f}" for n in numbers))
    console.print(table)
    table = Table(title="A decision of fewer nodes, used on more", title_justify="left")
    for name in ("collective", "from", "to", "default", "carried over", "decided there"):
        table.add_column(name, justify="right")
    for row in larger:
        numbers = [row["default"], row["carried"], row["own"]]
        table.add_row(str(row["collective"]), str(row["from"]), str(row["to"]), *(f"{n:.2f}" for n in numbers))
    console.print(table)


def by_budget(rows: Sequence[Mapping[str, object]], column: str) -> list[dict[float, float]]:
    """A column whose entries hold a number for each budget."""
    found = [row[column] for row in rows]
    return [{float(budget): float(value) for budget, value in one.items()} for one in found if isinstance(one, dict)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("system", type=Path, metavar="SYSTEM", help="a system's directory, jobs in it")
    options = parser.parse_args()
    try:
        published = load(options.system)
    except OSError as error:
        sys.exit(f"{options.system}: {error.strerror}")
    if not published.samples:
        sys.exit(f"{options.system}: no job of PICO with the default measured on CPUs was found")
    rows, larger = by_case(published), carried(published)
    show(rows, larger)
    summary = {
        "default": mean_ratio(float(str(row["default"])) for row in rows),
        "pick": {b: mean_ratio(share[b] for share in by_budget(rows, "pick")) for b in BUDGETS},
        "spent": {b: fmean(share[b] for share in by_budget(rows, "spent")) for b in BUDGETS},
        "wrong": mean_ratio(float(str(row["wrong"])) for row in rows),
        "cases": rows,
        "larger": larger,
        "conditions": {"mpi": sorted(published.versions), "blocks": BLOCKS, "seen": len(SEEN), "fresh": len(FRESH)},
    }
    print(json.dumps(summary))


if __name__ == "__main__":
    main()
