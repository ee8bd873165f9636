"""How far a tuning's choice is from the best of everything at every message size, on launches its study never saw.

    python benchmarks/chosen_curve.py unisono-out/study.db --rounds 8 [--keep FILE]     about a minute on 2 cores
    python benchmarks/chosen_curve.py --keep benchmarks/data/chosen-curve.jsonl         what was measured before, again

Every round launches each launch setting that has a contender and measures, at every size of the study, what the tuning
chose and whatever the study found within `--within` of the best there (of our shared-memory algorithms, which are the
same under all launch settings, in the simplest launches only). The best of many is partly luck, so it is picked in one
half of the rounds and timed in the other, both ways. Prints chosen / best by collective: geometric mean over sizes, the
worst size and by what it is beaten; the last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
import tempfile
from collections import defaultdict
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

from unisono.core.sizes import format_size
from unisono.core.vocabulary import DEFAULT, Case, Setting, launch_part
from unisono.decide.pool import elsewhere
from unisono.inventory.describe import describe
from unisono.library.native import bench_program
from unisono.report.text import short_setting
from unisono.report.view import CaseView, case_views
from unisono.search.verdict import decide_study
from unisono.study.begin import begin, stored_candidates, stored_study
from unisono.study.config import Study
from unisono.study.data import StudyData
from unisono.study.engine import Engine, Item, Task
from unisono.study.matrix import expand
from unisono.study.ours import prepare
from unisono.study.store import Store

Cell = tuple[Case, int]
Times = dict[Cell, dict[Setting, dict[int, float]]]
"""Log seconds by round."""


@dataclass(frozen=True)
class Curve:
    """One collective at one message size."""

    collective: str
    size: int
    chosen: str
    times: dict[str, dict[int, float]]
    """Log seconds by round, of whatever may be the best, the chosen among it."""


def chosen(view: CaseView, size: int) -> Setting:
    """The setting to measure for what the plan uses; ours in the simplest launch."""
    setting = view.chosen_at(size)
    known = view.estimates
    return setting if setting in known else DEFAULT


def contenders(view: CaseView, within: float) -> dict[int, set[Setting]]:
    """Size -> what may be the best there, the chosen among it."""
    away = elsewhere(view.case, view.estimates)
    found: dict[int, set[Setting]] = {}
    for size in view.sizes:
        here = {s: curve[size].time.mid for s, curve in view.estimates.items() if size in curve and s not in away}
        best = min(here.values())
        found[size] = {DEFAULT, chosen(view, size)} | {s for s, time in here.items() if time <= within * best}
    return found


def measured(study: Study, data: StudyData, wanted: dict[Cell, set[Setting]], given: argparse.Namespace) -> Times:
    """Fresh launches, in a study of their own that is thrown away."""
    machine = describe(data.machine.mpi.mpirun if data.machine.mpi else None)
    assert machine.mpi is not None
    program = bench_program(machine.mpi.mpicc)
    with Store.open(given.study) as store:
        stored = stored_candidates(store)
    ours = prepare(study, machine, program, stored=stored)
    matrix = expand(study, machine, scope=data.scope, ours=ours.candidates if ours else None)
    with tempfile.TemporaryDirectory() as folder, begin(Path(folder) / "f.db", study, machine, matrix, ours) as store:
        crowded = study.cases.oversubscribe
        engine = Engine(
            store, machine, program, scope=data.scope, measure=study.measuring, oversubscribe=crowded, ours=ours
        )
        for round in range(1, given.rounds + 1):
            tasks = []
            for launch in sorted({launch_part(s, data.scope) for settings in wanted.values() for s in settings}):
                items = []
                for (case, size), settings in wanted.items():
                    mine = sorted(s for s in settings if launch_part(s, data.scope) == launch)
                    if mine:
                        random.Random(f"{round}/{size}").shuffle(mine)
                        items.append(Item(case, size, tuple(mine)))
                random.Random(f"{round}/{launch}").shuffle(items)
                tasks.append(Task(launch, items[0].case.nodes, items[0].case.ppn, round, tuple(items)))
            random.Random(round).shuffle(tasks)
            for task in tasks:
                engine.run(task)
        times: Times = defaultdict(lambda: defaultdict(dict))
        for s in store.samples():
            times[s.case, s.size][s.setting][s.round] = math.log(s.median)
    return times


def left(curve: Curve) -> tuple[float, str]:
    """Log of chosen / best, the best picked on the other half of the rounds; and what is the best over all."""
    times, mine = curve.times, curve.chosen
    rounds = sorted(times[mine])
    halves = rounds[::2], rounds[1::2]
    lost = []
    for pick, judge in (halves, halves[::-1]):
        best = min(times, key=lambda s: _middle(times[s], pick))
        lost.append(_middle(times[mine], judge) - _middle(times[best], judge))
    return sum(lost) / 2, min(times, key=lambda s: _middle(times[s], rounds))


def _middle(values: dict[int, float], rounds: list[int]) -> float:
    known = [values[round] for round in rounds if round in values]
    return median(known) if len(known) >= len(rounds) / 2 else math.inf


def curves(given: argparse.Namespace) -> list[Curve]:
    """Measured now."""
    with Store.open(given.study) as store:
        data, study = store.data(), stored_study(store)
    views = case_views(data, decide_study(data))
    wanted = {(v.case, size): settings for v in views for size, settings in contenders(v, given.within).items()}
    times = measured(study, data, wanted, given)
    return [
        Curve(
            view.case.collective,
            size,
            short_setting(chosen(view, size)),
            {short_setting(setting): by_round for setting, by_round in times[view.case, size].items()},
        )
        for view in views
        for size in view.sizes
    ]


def kept(file: Path) -> list[Curve]:
    found = []
    for line in file.read_text().splitlines():
        one = json.loads(line)
        times = {who: {int(round): log for round, log in by_round.items()} for who, by_round in one["times"].items()}
        found.append(Curve(one["collective"], one["size"], one["chosen"], times))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", type=Path, nargs="?", help="what `unisono tune` measured; without it: read --keep")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--within", type=float, default=1.3)
    parser.add_argument("--keep", type=Path, metavar="FILE", help="write what is measured here")
    given = parser.parse_args()
    if given.study is None and given.keep is None:
        parser.error("name a study, or --keep what was measured before")
    made = curves(given) if given.study else kept(given.keep)
    if given.study and given.keep:
        given.keep.write_text("".join(json.dumps(asdict(curve)) + "\n" for curve in made))
    table = Table(title="Chosen time / best time, on fresh launches", title_justify="left")
    for name in ("collective", "mean", "worst", "at", "best there", "within 5 %"):
        table.add_column(name)
    answer = {}
    for name in dict.fromkeys(curve.collective for curve in made):
        found = {curve.size: left(curve) for curve in made if curve.collective == name}
        mean = math.exp(sum(log for log, _ in found.values()) / len(found))
        worst = max(found, key=lambda size: found[size][0])
        good = sum(log <= math.log(1.05) for log, _ in found.values())
        table.add_row(
            name,
            f"{mean:.3f}",
            f"{math.exp(found[worst][0]):.3f}",
            format_size(worst),
            found[worst][1],
            f"{good} of {len(found)}",
        )
        answer[name] = {
            "mean": round(mean, 4),
            "worst": round(math.exp(found[worst][0]), 4),
            "worst_size": worst,
            "by_size": {size: round(math.exp(log), 4) for size, (log, _) in found.items()},
        }
    Console(width=110).print(table)
    print(json.dumps(answer))
    return 0


if __name__ == "__main__":
    sys.exit(main())
