"""What a search costs and how good its pick is: the race against all combinations, five times.

    python benchmarks/search_cost.py                       replay the recorded study (half a minute)
    python benchmarks/search_cost.py --record FILE.db      record one on this machine (about 10 minutes on 2 cores)
    python benchmarks/search_cost.py --replay FILE.db      replay that one
    python benchmarks/search_cost.py --rounds 5            ... with fewer rounds of the race than its eight
    python benchmarks/search_cost.py --live                run both for real, re-measure both picks on fresh launches
    python benchmarks/search_cost.py --kept FOLDER         print again what --live --keep FOLDER measured

Prints wall time of both, their ratio, and the ratio race pick / classic pick in time (geometric mean over cases and
sizes; below 1 the race's pick is faster), each pick measured in launches neither search has seen. A replay is done
with the recorded rounds in several random orders: one order alone is luck. Its figures are means, with the range.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import geometric_mean, mean

from rich.console import Console
from rich.table import Table

from unisono.core.vocabulary import CALL_SCOPE, Case, Sample, Setting, launch_part
from unisono.decide.decide import decide
from unisono.decide.decision import Decision
from unisono.inventory.describe import describe
from unisono.library.native import bench_program
from unisono.machine.description import Machine
from unisono.search import classic, race
from unisono.study.asked import find
from unisono.study.begin import begin, stored_study
from unisono.study.config import LikeImb, Study
from unisono.study.data import StudyData
from unisono.study.engine import Engine, Item, Task
from unisono.study.matrix import Matrix, expand
from unisono.study.replay import Replay, mean_seconds
from unisono.study.store import Store
from unisono.tuning.choosing import choose
from unisono.tuning.plans import Plan

RECORDED = Path(__file__).parent / "data" / "search-cost.db"
CLASSIC_ROUNDS = range(1, 6)
RACE_ROUNDS = range(1, 9)
FRESH_ROUNDS = range(9, 12)
"""Of a recording: what each search may see, and what neither sees."""
LIVE_FRESH_ROUNDS = range(1, 13)
"""Live, in a study of their own: launches differ by more than the picks, so three are few."""
WALL = "wall.json"
"""Of a live run: seconds of each search, with what the driver did between launches."""
ORDERS = 8

Pick = Mapping[tuple[Case, int], Setting]


@dataclass(frozen=True)
class Result:
    name: str
    seconds: float
    launches: int
    pick: Pick
    decision: Decision


def pick_of(decision: Decision, matrix: Matrix, collective: str | None) -> Pick:
    """(case, size) -> the setting decided for it: jointly over all collectives, or for one."""
    found: dict[tuple[Case, int], Setting] = {}
    for nodes, ppn in matrix.groups():
        plans = [plan for plan in decision.plans if (plan.nodes, plan.ppn) == (nodes, ppn)]
        plan = choose(plans, {collective: 1.0} if collective else None, decision.margin)
        for c in matrix.group(nodes, ppn):
            if collective in (None, c.case.collective):
                found.update({(c.case, size): _measured(_setting(plan, c.case, size), c.settings) for size in c.sizes})
    return found


def _setting(plan: Plan, case: Case, size: int) -> Setting:
    for rule in plan.rules:
        if rule.collective == case.collective and rule.first <= size and (rule.last is None or size <= rule.last):
            return plan.launch | rule.call
    return plan.launch


def _measured(setting: Setting, settings: Sequence[Setting]) -> Setting:
    """A component that does not serve this collective leaves it as it is without the component."""
    return setting if setting in settings else setting.without("coll")


def ratio(mine: Pick, other: Pick, seconds: Mapping[tuple[Case, int, Setting], float]) -> float:
    """Geometric mean of mine / other."""
    logs = [math.log(seconds[(*key, mine[key])] / seconds[(*key, other[key])]) for key in mine]
    return math.exp(sum(logs) / len(logs))


@dataclass(frozen=True)
class Comparison:
    """One classic and one race study of the same settings."""

    classic: Result
    race: Result
    ratios: Mapping[str, float]
    """"all" or a collective -> time of race's pick / time of classic's."""


def replayed(path: Path, orders: int, race_rounds: int) -> tuple[list[Comparison], dict[str, object]]:
    with Store.open(path) as store:
        data, study = store.data(), stored_study(store)
    study = study.model_copy(
        update={"method": study.method.model_copy(update={"launches": len(CLASSIC_ROUNDS), "budget": None})}
    )
    machine = data.machine
    start = _start_seconds(data.samples, [launch.seconds for launch in data.launches if launch.status == "done"])
    samples = list(data.samples)
    recorded = [*RACE_ROUNDS, *FRESH_ROUNDS]
    found = []
    for number in range(orders):
        rounds = random.Random(number).sample(recorded, len(recorded)) if number else recorded
        order = dict(zip(rounds, recorded, strict=True))
        found.append(
            _replayed_once([replace(s, round=order[s.round]) for s in samples], study, data, start, race_rounds)
        )
    conditions = {
        "machine": f"{machine.cpu_model}, {machine.cores} cores",
        "mpi": f"{machine.mpi.family} {machine.mpi.version}" if machine.mpi else "",
        "recorded": path.name,
        "orders": orders,
        "race_rounds": race_rounds,
        "start_seconds": round(start, 3),
        "fresh_launches": len(FRESH_ROUNDS),
    }
    return found, conditions


def _replayed_once(
    samples: Sequence[Sample], study: Study, data: StudyData, start: float, race_rounds: int
) -> Comparison:
    swept = expand(study, data.machine, scope=CALL_SCOPE)
    both = Replay(samples, rounds=CLASSIC_ROUNDS, start_seconds=start, measure=LikeImb())
    classic.run(expand(study, data.machine, scope=()), study, both)
    decided = decide(both.samples(), method="classic", margin=data.margin, confidence=data.confidence, scope=())
    slow = Result("classic", both.seconds, both.launches, pick_of(decided, swept, None), decided)

    # As the study file measures today; the recording is older than its latest values.
    quick = Replay(samples, rounds=RACE_ROUNDS[:race_rounds], start_seconds=start, measure=find("search-cost").measure)
    race.run(swept, study, quick)
    decided = decide(quick.samples(), method="race", margin=data.margin, confidence=data.confidence, scope=swept.scope)
    fast = Result("race", quick.seconds, quick.launches, pick_of(decided, swept, None), decided)
    return Comparison(slow, fast, _ratios([slow, fast], swept, mean_seconds(samples, FRESH_ROUNDS)))


def _start_seconds(samples: Iterable[Sample], launches: Sequence[float]) -> float:
    """What a recorded launch took beside measuring, on average."""
    measuring = sum(s.mean * s.repetitions for s in samples)
    return max(0.05, (sum(launches) - 1.5 * measuring) / len(launches))


def _ratios(
    results: Sequence[Result], matrix: Matrix, seconds: Mapping[tuple[Case, int, Setting], float]
) -> dict[str, float]:
    slow, fast = results
    found = {"all": ratio(fast.pick, slow.pick, seconds)}
    for collective in dict.fromkeys(c.case.collective for c in matrix.cases):
        mine, other = (pick_of(r.decision, matrix, collective) for r in (fast, slow))
        found[collective] = ratio(mine, other, seconds)
    return found


def live(study: Study, folder: Path) -> None:
    """Measures into the folder: both searches, how long each took, and all that either picked on fresh launches."""
    machine = describe()
    assert machine.mpi is not None
    program = bench_program(machine.mpi.mpicc)
    swept = expand(study, machine, scope=CALL_SCOPE)
    wall = {}
    for name, matrix in (("classic", expand(study, machine, scope=())), ("race", swept)):
        launches = len(CLASSIC_ROUNDS) if name == "classic" else study.method.launches
        method = study.method.model_copy(update={"name": name, "launches": launches, "budget": None})
        asked = study.model_copy(update={"method": method})
        with begin(folder / f"{name}.db", asked, machine, matrix) as store:
            engine = Engine(store, machine, program, scope=matrix.scope, measure=asked.measuring, oversubscribe=False)
            began = time.monotonic()
            (classic.run if name == "classic" else race.run)(matrix, asked, engine)
            wall[name] = time.monotonic() - began
            print(f"{name}: {wall[name]:.0f} s, {len(store.launches())} launches", file=sys.stderr)
            store.forget_raw()
        forget_places(folder / f"{name}.db", machine, program)
    (folder / WALL).write_text(json.dumps(wall) + "\n")
    picks = [pick_of(_decided(folder, n)[0], swept, c) for n in wall for c in (None, *study.cases.collectives)]
    with begin(folder / "fresh.db", study, machine, swept) as store:
        engine = Engine(store, machine, program, scope=swept.scope, measure=study.measure, oversubscribe=False)
        for task in _fresh_tasks(picks, swept, LIVE_FRESH_ROUNDS):
            engine.run(task)
        store.forget_raw()
    forget_places(folder / "fresh.db", machine, program)


def forget_places(file: Path, machine: Machine, program: Path) -> None:
    """Where the MPI and the benchmark were concerns nobody who reads what is kept."""
    assert machine.mpi is not None
    with closing(sqlite3.connect(file)) as database, database:
        for place, name in ((str(Path(machine.mpi.mpirun).parent.parent), "/opt/mpi"), (f"{program.parent}/", "")):
            for table, column in (("launch", "command"), ("meta", "value")):
                database.execute(f"UPDATE {table} SET {column} = replace({column}, ?, ?)", (place, name))
    with closing(sqlite3.connect(file)) as database:
        database.execute("VACUUM")


def _decided(folder: Path, name: str) -> tuple[Decision, StudyData]:
    with Store.open(folder / f"{name}.db") as store:
        data = store.data()
    scope = () if name == "classic" else CALL_SCOPE
    decision = decide(data.samples, method=name, margin=data.margin, confidence=data.confidence, scope=scope)
    return decision, data


def kept(folder: Path) -> tuple[list[Comparison], dict[str, object]]:
    """What a live run left in the folder."""
    with Store.open(folder / "fresh.db") as store:
        machine, study, samples = store.machine, stored_study(store), store.samples()
    swept, wall = expand(study, machine, scope=CALL_SCOPE), json.loads((folder / WALL).read_text())
    results, longest = [], {}
    for name in ("classic", "race"):
        decision, data = _decided(folder, name)
        longest[name] = round(max(launch.seconds for launch in data.launches), 1)
        results.append(Result(name, wall[name], len(data.launches), pick_of(decision, swept, None), decision))
    slow, fast = results
    conditions = {
        "machine": f"{machine.cpu_model}, {machine.cores} cores",
        "mpi": f"{machine.mpi.family} {machine.mpi.version}" if machine.mpi else "",
        "fresh_launches": len(LIVE_FRESH_ROUNDS),
        "longest_launch_seconds": longest,
    }
    return [Comparison(slow, fast, _ratios(results, swept, mean_seconds(samples, LIVE_FRESH_ROUNDS)))], conditions


def _fresh_tasks(picks: Sequence[Pick], matrix: Matrix, rounds: Iterable[int]) -> list[Task]:
    """Everything picked by anyone, once a round, the launches of a round in random order."""
    wanted: dict[Setting, dict[tuple[Case, int], set[Setting]]] = {}
    for pick in picks:
        for key, setting in pick.items():
            wanted.setdefault(launch_part(setting, matrix.scope), {}).setdefault(key, set()).add(setting)
    tasks = []
    for round in rounds:
        group = []
        for launch, cells in wanted.items():
            items = tuple(Item(case, size, tuple(sorted(settings))) for (case, size), settings in cells.items())
            case = items[0].case
            group.append(Task(launch, case.nodes, case.ppn, round, items))
        random.Random(round).shuffle(group)
        tasks += group
    return tasks


def record(study: Study, path: Path) -> None:
    """All combinations, each in launches of its own, in eleven rounds; raw repetitions are not kept."""
    machine = describe()
    assert machine.mpi is not None
    matrix = expand(study, machine, scope=())
    rounds = max(FRESH_ROUNDS)
    asked = study.model_copy(update={"method": study.method.model_copy(update={"name": "classic", "launches": rounds})})
    program = bench_program(machine.mpi.mpicc)
    with begin(path, asked, machine, matrix) as store:
        engine = Engine(store, machine, program, scope=(), measure=asked.measuring, oversubscribe=False)
        tasks = list(classic.tasks(matrix, asked))
        for number, task in enumerate(tasks, start=1):
            engine.run(task)
            if number % 100 == 0:
                print(f"{number} of {len(tasks)} launches", file=sys.stderr, flush=True)
        store.forget_raw()
    forget_places(path, machine, program)


def show(found: Sequence[Comparison], conditions: Mapping[str, object]) -> None:
    seconds = {name: [getattr(one, name).seconds for one in found] for name in ("classic", "race")}
    launches = {name: [getattr(one, name).launches for one in found] for name in ("classic", "race")}
    cost = [fast / slow for fast, slow in zip(seconds["race"], seconds["classic"], strict=True)]
    starts = [fast / slow for fast, slow in zip(launches["race"], launches["classic"], strict=True)]
    picks = {name: [one.ratios[name] for one in found] for name in found[0].ratios}
    table = Table(title="Search cost", title_justify="left")
    for name in ("", "classic", "race", "race / classic", "from", "to"):
        table.add_column(name, justify="right" if name else "left")
    table.add_row("wall time", *(f"{mean(seconds[name]):.0f} s" for name in seconds), *_share(cost))
    table.add_row("launches", *(f"{mean(launches[name]):.0f}" for name in launches), *_share(starts))
    for name, values in picks.items():
        table.add_row(
            f"time of the pick, {name}",
            "1",
            f"{geometric_mean(values):.3f}",
            *(f"{value - 1:+.1%}" for value in (geometric_mean(values), min(values), max(values))),
        )
    Console(width=110).print(table)
    print(
        json.dumps(
            {
                "classic_seconds": round(mean(seconds["classic"]), 1),
                "race_seconds": round(mean(seconds["race"]), 1),
                "cost_ratio": round(mean(cost), 4),
                "cost_ratio_range": [round(min(cost), 4), round(max(cost), 4)],
                "pick_ratio": {name: round(geometric_mean(values), 4) for name, values in picks.items()},
                "pick_ratio_range": {
                    name: [round(min(values), 4), round(max(values), 4)] for name, values in picks.items()
                },
                "conditions": dict(conditions),
            }
        )
    )


def _share(values: Sequence[float]) -> list[str]:
    """1/mean, and the range."""
    return [f"1/{1 / value:.1f}" for value in (mean(values), min(values), max(values))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--replay", type=Path, default=RECORDED, metavar="FILE.db")
    what.add_argument("--record", type=Path, metavar="FILE.db")
    what.add_argument("--live", action="store_true")
    what.add_argument("--kept", type=Path, metavar="FOLDER")
    parser.add_argument("--study", default="search-cost")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="leave the live studies there")
    parser.add_argument("--orders", type=int, default=ORDERS, metavar="N", help="replay that many orders of rounds")
    parser.add_argument(
        "--rounds",
        type=int,
        default=len(RACE_ROUNDS),
        choices=RACE_ROUNDS,
        metavar="N",
        help="of the race, in a replay: it ends after so many",
    )
    arguments = parser.parse_args()
    if arguments.record:
        record(find(arguments.study), arguments.record)
        return
    if arguments.live:
        with tempfile.TemporaryDirectory() if arguments.keep is None else nullcontext(arguments.keep) as folder:
            live(find(arguments.study), Path(folder))
            show(*kept(Path(folder)))
        return
    if arguments.kept:
        show(*kept(arguments.kept))
        return
    show(*replayed(arguments.replay, arguments.orders, arguments.rounds))


if __name__ == "__main__":
    main()
