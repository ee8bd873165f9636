"""How often a predicted gain holds the truth: programs under several settings, predicted against measured.

    python benchmarks/prediction.py                    the examples on this machine (about 10 minutes on 2 cores)
    python benchmarks/prediction.py --subjects fft-large --rounds 5
    python benchmarks/prediction.py --save FOLDER      keep profiles, studies and times; --load FOLDER predicts anew
    python benchmarks/prediction.py --load benchmarks/data/prediction         from three programs recorded once

For each subject: time it as it is, profile it, measure the settings at just the calls it makes (five interleaved
launches each), predict as-is / with the setting for every setting, good and bad ones; then run the program in rounds,
each round three times as it is (the median counts) and once under every setting, in random order. The truth is the
ratio of the medians over the rounds. It is known no better than runs repeat, so two intervals are compared with it:
that of the gain, and that of what so many rounds will show of it, widened by how the runs before the profile differed
among themselves (advise.scatter). At least 8 in 10 of the latter should hold it. Last, without one subject at a time:
by which factor the gain's interval would have to be widened so that 8 in 10 of the others hold, and whether that would
do for the one left out.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from unisono.advise.evidence import StudyEvidence
from unisono.advise.gaps import gaps
from unisono.advise.measuring import Wanted, matrix_for, study_for
from unisono.advise.mix import MEASURED, Mix, mix_of
from unisono.advise.predict import predict
from unisono.advise.recording import profile_of
from unisono.advise.scatter import LEAST_RUNS as LEAST_ROUNDS
from unisono.advise.scatter import shown
from unisono.decide.model import Interval
from unisono.errors import LaunchError
from unisono.launch.command import Command
from unisono.launch.process import run
from unisono.launch.rewrite import with_setting
from unisono.machine.describe import describe
from unisono.machine.model import Machine
from unisono.measure.build import bench_program
from unisono.model import DEFAULT, Setting, launch_part
from unisono.profile.file import load, save
from unisono.study.begin import begin
from unisono.study.engine import Engine, Item, Task
from unisono.study.matrix import CaseMatrix, Matrix
from unisono.study.store import Store
from unisono.tuning.model import Gain, PlanModel, StudyPart, Tuning

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
METRIC = re.compile(r"Time in seconds = *([0-9.]+)")
LAUNCHES = 5
"""Of every setting in the study."""
BEFORE, BEFORE_KEY = 3, "before"
"""Runs as it is before the profile, after it, and after the study, so that they tell how runs differ over minutes, not
over seconds; where their times are kept."""
AS_IS = 3
"""Runs as it is in every round: an error of theirs would be in all ratios."""
SETTINGS = (
    {"pml": "ob1"},
    {"pml": "ucx"},
    {"pml": "ucx", "UCX_RNDV_THRESH": "1kb"},
    {"pml": "ucx", "UCX_RNDV_THRESH": "16mb"},
    {"coll": "basic"},
    {"coll": "tuned"},
    {"pml": "ucx", "coll": "tuned"},
    {"coll": "sm"},
)
"""Of the launch: what people try, useful or not. What a machine does not have is left out."""
DEADLINE = 120.0
SHARE = 0.8
"""Of the intervals, that should hold the truth."""


@dataclass(frozen=True)
class Subject:
    """A program as it would be run by hand."""

    name: str
    ranks: int
    program: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """One setting for one subject: as-is / with it."""

    subject: str
    setting: str
    predicted: Interval
    """The gain."""
    shown: Interval
    """What the rounds will show of it."""
    measured: Interval
    before: tuple[float, ...]
    rounds: int

    @property
    def held(self) -> bool:
        return self.shown.low <= self.measured.mid <= self.shown.high

    @property
    def held_alone(self) -> bool:
        return self.predicted.low <= self.measured.mid <= self.predicted.high

    def held_widened(self, factor: float) -> bool:
        low, high = self.predicted.low / self.predicted.mid, self.predicted.high / self.predicted.mid
        wider = Interval(self.predicted.mid, self.predicted.mid * low**factor, self.predicted.mid * high**factor)
        seen = shown(wider, self.before, self.rounds)
        return seen.low <= self.measured.mid <= seen.high


def subjects(folder: Path, machine: Machine) -> list[Subject]:
    """The examples, of sizes at which several of their message sizes and kinds of calls matter."""
    assert machine.mpi is not None
    build = folder / "fft3d"
    words = ["make", "-s", "-C", str(EXAMPLES / "fft3d"), f"MPICC={machine.mpi.mpicc}", f"O={build}"]
    subprocess.run(words, check=True, stdout=sys.stderr)
    fft = str(build / "fft3d")
    halo = (sys.executable, str(EXAMPLES / "halo" / "halo.py"))
    ranks = min(machine.cores, 4)
    return [
        Subject("fft-large", ranks, (fft, "--grid", "128", "128", "64", "--steps", "50")),
        Subject("fft-small", ranks, (fft, "--grid", "32", "32", "16", "--steps", "4000")),
        Subject("fft-tiny", ranks, (fft, "--grid", "16", "8", "8", "--steps", "20000")),
        Subject("halo", ranks, (*halo, "--grid", "512", "512", "--steps", "400", "--every", "1")),
        Subject("halo-small", ranks, (*halo, "--grid", "64", "64", "--steps", "20000", "--exchange", "sendrecv")),
    ]


def settings(machine: Machine) -> list[Setting]:
    assert machine.mpi is not None
    known = machine.mpi.components
    return [
        Setting(setting)
        for setting in SETTINGS
        if all(setting[name] in known.get(name, []) for name in ("pml", "coll") if name in setting)
    ]


def command(machine: Machine, subject: Subject, setting: Setting) -> Command:
    """The subject's line with a setting, as `unisono run` makes it."""
    assert machine.mpi is not None
    root = ["--allow-run-as-root"] if machine.root_user else []
    argv = [machine.mpi.mpirun, *root, "-n", str(subject.ranks), *subject.program]
    return with_setting(argv, setting, machine)


def measured(path: Path, wanted: Wanted, chosen: Sequence[Setting], machine: Machine, program: Path) -> None:
    """All settings at all wanted sizes, in interleaved launches, into a study."""
    study = study_for(wanted, machine).model_copy(update={"parameters": {}})
    matrix = matrix_for(study, machine, wanted)
    parts: dict[Setting, list[Setting]] = {}
    for setting in [DEFAULT, *chosen]:
        parts.setdefault(launch_part(setting, matrix.scope), []).append(setting)
    with begin(path, study, machine, matrix) as store:
        crowded = study.cases.oversubscribe
        engine = Engine(store, machine, program, scope=matrix.scope, measure=study.measure, oversubscribe=crowded)
        for round in range(1, LAUNCHES + 1):
            tasks = []
            for launch, inside in parts.items():
                for nodes, ppn in matrix.groups():
                    items = tuple(Item(c.case, size, tuple(inside)) for c, size in _cells(matrix, nodes, ppn))
                    tasks.append(Task(launch, nodes, ppn, round, items))
            random.Random(round).shuffle(tasks)
            for task in tasks:
                engine.run(task)
        store.forget_raw()


def _cells(matrix: Matrix, nodes: int, ppn: int) -> list[tuple[CaseMatrix, int]]:
    return [(c, size) for c in matrix.group(nodes, ppn) for size in c.sizes]


def tuning_of(chosen: Sequence[Setting], mix: Mix) -> Tuning:
    """A plan for every setting, whatever it is worth."""
    cases = {(s.case.nodes, s.case.ppn) for s in mix.spots if s.kind in MEASURED and s.case is not None}
    one = Gain(mid=1.0, low=1.0, high=1.0)
    names = {s.case.collective for s in mix.spots if s.kind in MEASURED and s.case is not None}
    return Tuning(
        format="unisono-tuning",
        version=1,
        name="prediction",
        created="",
        made_by="benchmarks/prediction.py",
        study=StudyPart(id="", name="prediction", method="race", margin=0.03, confidence=0.95),
        plan=tuple(
            PlanModel(nodes=nodes, ppn=ppn, launch=setting, gain=dict.fromkeys(sorted(names), one))
            for nodes, ppn in sorted(cases)
            for setting in [DEFAULT, *chosen]
        ),
    )


def timed(
    machine: Machine, subject: Subject, chosen: Sequence[Setting], rounds: int, before: Sequence[float], path: Path
) -> None:
    """Setting's key -> the program's own time in each round (NaN for a run that failed), and those `before`: written
    after every round, so that an interrupted benchmark can be looked at."""
    times: dict[str, list[float]] = {BEFORE_KEY: list(before)}
    for round in range(rounds):
        order = [*[DEFAULT] * AS_IS, *chosen]
        random.Random(f"{subject.name}/{round}").shuffle(order)
        found: dict[str, list[float]] = {}
        for setting in order:
            found.setdefault(setting.key, []).append(_seconds(command(machine, subject, setting)))
        for key, values in found.items():
            times.setdefault(key, []).append(statistics.median(values))
        path.write_text(json.dumps(times))
        print(f"{subject.name}: round {round + 1} of {rounds}", file=sys.stderr, flush=True)


def _seconds(line: Command) -> float:
    try:
        done = run(line.argv, line.env, DEADLINE)
    except LaunchError:
        return math.nan
    return _found(done.stdout) if done.exit_code == 0 else math.nan


def _found(output: str) -> float:
    found = METRIC.search(output)
    return float(found[1]) if found else math.nan


def outcomes(
    subject: str, folder: Path, chosen: Sequence[Setting], times: Mapping[str, Sequence[float]]
) -> list[Outcome]:
    """What was predicted from what is in the folder, against the times."""
    mix = mix_of(load(folder / f"{subject}.profile"))
    with Store.open(folder / f"{subject}.db") as store:
        evidence = StudyEvidence(store.data(), tuning_of(chosen, mix))
    found = []
    before = tuple(times[BEFORE_KEY])
    for setting, prediction in zip(chosen, predict(mix, [evidence], chosen), strict=True):
        pairs = [(a, t) for a, t in zip(times[DEFAULT.key], times[setting.key], strict=True) if a == a and t == t]
        if len(pairs) < LEAST_ROUNDS:
            continue
        gain = prediction.gain
        found.append(
            Outcome(subject, str(setting), gain, shown(gain, before, len(pairs)), truth(pairs), before, len(pairs))
        )
    return found


def truth(pairs: Sequence[tuple[float, float]]) -> Interval:
    """The ratio of the medians, and where 95 % of the ratios are of as many rounds drawn from these."""
    rows = np.array(pairs)
    drawn = rows[np.random.default_rng(1).integers(len(rows), size=(4000, len(rows)))]
    ratios = np.median(drawn[:, :, 0], axis=1) / np.median(drawn[:, :, 1], axis=1)
    middle = np.median(rows[:, 0]) / np.median(rows[:, 1])
    return Interval(float(middle), *map(float, np.quantile(ratios, (0.025, 0.975))))


def left_out(found: Sequence[Outcome]) -> list[tuple[str, float, int, int]]:
    """For each subject: the factor that the others need, and how many of its own so many hold with it."""
    factors = np.arange(0.0, 10.05, 0.1)
    rows = []
    for name in dict.fromkeys(o.subject for o in found):
        others = [o for o in found if o.subject != name]
        own = [o for o in found if o.subject == name]
        enough = (f for f in factors if sum(o.held_widened(f) for o in others) >= SHARE * len(others))
        factor = float(next(enough, factors[-1]))
        rows.append((name, factor, sum(o.held_widened(factor) for o in own), len(own)))
    return rows


def show(found: Sequence[Outcome], conditions: Mapping[str, object]) -> None:
    table = Table(title="As-is / with the setting, predicted and measured", title_justify="left")
    for name in ("subject", "setting", "gain, predicted", "rounds should show", "rounds showed", "holds"):
        table.add_column(name, overflow="fold")
    for o in found:
        cells = [f"{i.mid:.3f} ({i.low:.3f} to {i.high:.3f})" for i in (o.predicted, o.measured)]
        seen = f"{o.shown.low:.3f} to {o.shown.high:.3f}"
        table.add_row(o.subject, o.setting, cells[0], seen, cells[1], "yes" if o.held else "no")
    Console(width=130).print(table)
    held, alone = sum(o.held for o in found), sum(o.held_alone for o in found)
    print(f"{held} of {len(found)} intervals hold what the rounds showed ({alone} without how runs differ).")
    out = left_out(found) if len({o.subject for o in found}) > 1 else []
    for name, factor, own, of in out:
        print(f"Without {name}: the gain's interval times {factor:.1f} holds 8 in 10; of {name} {own} of {of}.")
    document = {
        "predictions": len(found),
        "held": held,
        "share_held": round(held / len(found), 3) if found else None,
        "held_alone": alone,
        "median_width_percent": _width([o.shown for o in found]),
        "gain_width_percent": _width([o.predicted for o in found]),
        "measured_width_percent": _width([o.measured for o in found]),
        "left_out": [{"subject": n, "factor": round(f, 1), "held": own, "of": of} for n, f, own, of in out],
        "outcomes": [
            {
                "subject": o.subject,
                "setting": o.setting,
                "predicted": _ends(o.predicted),
                "shown": _ends(o.shown),
                "measured": _ends(o.measured),
                "held": o.held,
            }
            for o in found
        ],
        "conditions": dict(conditions),
    }
    print(json.dumps(document))


def _ends(interval: Interval) -> list[float]:
    return [round(end, 4) for end in (interval.low, interval.mid, interval.high)]


def _width(intervals: Sequence[Interval]) -> float | None:
    """Median, from end to end."""
    widths = [math.log(interval.high / interval.low) for interval in intervals]
    return round(100 * math.expm1(statistics.median(widths)), 2) if widths else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--subjects", nargs="*", help="names; else all")
    parser.add_argument("--mpirun", help="the MPI to use; else the one beside this Python, which mpi4py needs")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--save", type=Path, metavar="FOLDER")
    parser.add_argument("--load", type=Path, metavar="FOLDER")
    arguments = parser.parse_args()
    beside = Path(sys.executable).parent / "mpirun"
    machine = describe(arguments.mpirun or (str(beside) if beside.exists() else None))
    assert machine.mpi is not None
    chosen = settings(machine)
    conditions: dict[str, object] = {
        "machine": f"{machine.cpu_model}, {machine.cores} cores",
        "mpi": f"{machine.mpi.family} {machine.mpi.version}",
        "launches": LAUNCHES,
        "rounds": arguments.rounds,
        "load": round(os.getloadavg()[0], 2),
    }
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.load or arguments.save or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        if not arguments.load:
            program = bench_program(machine.mpi.mpicc)
            for subject in subjects(folder, machine):
                if not arguments.subjects or subject.name in arguments.subjects:
                    one(subject, folder, chosen, machine, program, arguments.rounds)
        found = []
        for path in sorted(folder.glob("*.times.json")):
            times = json.loads(path.read_text())
            keys = [key for key in times if key != BEFORE_KEY]
            used = [setting for setting in map(Setting.from_key, keys) if not setting.is_default]
            found += outcomes(path.name.removesuffix(".times.json"), folder, used, times)
        show(found, conditions)


def one(
    subject: Subject, folder: Path, chosen: Sequence[Setting], machine: Machine, program: Path, rounds: int
) -> None:
    """Profile, study and times of one subject."""
    path = folder / f"{subject.name}.profile"
    line = command(machine, subject, DEFAULT)
    before = [run(line.argv, line.env, DEADLINE) for _ in range(BEFORE)]
    profile = profile_of(line, DEADLINE, machine, folder)
    before += [run(line.argv, line.env, DEADLINE) for _ in range(BEFORE)]
    walls = tuple(done.seconds for done in before)
    save(replace(profile, origin=replace(profile.origin, as_is=walls)), path)
    wanted = {gap.case: gap.sizes for gap in gaps(mix_of(load(path)), [], worth=0.001)}
    print(f"{subject.name}: measuring {', '.join(map(str, wanted))}", file=sys.stderr, flush=True)
    measured(folder / f"{subject.name}.db", wanted, chosen, machine, program)
    before += [run(line.argv, line.env, DEADLINE) for _ in range(BEFORE)]
    path = folder / f"{subject.name}.times.json"
    timed(machine, subject, chosen, rounds, [_found(done.stdout) for done in before], path)


if __name__ == "__main__":
    main()
