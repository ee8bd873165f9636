"""How often a predicted gain holds the truth: programs under several settings, predicted against measured.

    python benchmarks/prediction.py                    the examples on this machine (about 10 minutes on 2 cores)
    python benchmarks/prediction.py --subjects fft-large --rounds 5
    python benchmarks/prediction.py --save FOLDER      keep profiles, studies and times; --load FOLDER predicts anew
    python benchmarks/prediction.py --quietest         on a busy machine: the truth is the ratio of the fastest runs

For each subject: profile it as it is, measure the settings at just the calls it makes (five interleaved launches each),
predict as-is / with the setting for every setting, good and bad ones; then run the program in rounds, each round once
as it is and once under every setting in random order. The truth is the ratio over the rounds. At least 8 in 10
predicted intervals should hold it.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console
from rich.table import Table

from unisono.advise.evidence import StudyEvidence
from unisono.advise.gaps import gaps
from unisono.advise.measuring import Wanted, matrix_for, study_for
from unisono.advise.mix import MEASURED, Mix, mix_of
from unisono.advise.paired import ratio_interval
from unisono.advise.predict import predict
from unisono.advise.recording import profile_of
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
    measured: Interval

    @property
    def held(self) -> bool:
        return self.predicted.low <= self.measured.mid <= self.predicted.high

    @property
    def compatible(self) -> bool:
        """The two intervals overlap: what remains when the truth, too, is only known so well."""
        return self.predicted.low <= self.measured.high and self.measured.low <= self.predicted.high


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
        Subject("fft-large", ranks, (fft, "--grid", "128", "128", "64", "--steps", "20")),
        Subject("fft-small", ranks, (fft, "--grid", "32", "32", "16", "--steps", "1000")),
        Subject("fft-tiny", ranks, (fft, "--grid", "16", "8", "8", "--steps", "10000")),
        Subject("halo", ranks, (*halo, "--grid", "512", "512", "--steps", "100", "--every", "1")),
        Subject("halo-small", ranks, (*halo, "--grid", "64", "64", "--steps", "1000", "--exchange", "sendrecv")),
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


def timed(machine: Machine, subject: Subject, chosen: Sequence[Setting], rounds: int) -> dict[str, list[float]]:
    """Setting's key -> the program's own time in each round; NaN for a run that failed."""
    times: dict[str, list[float]] = {}
    for round in range(rounds):
        order = [DEFAULT, *chosen]
        random.Random(f"{subject.name}/{round}").shuffle(order)
        for setting in order:
            times.setdefault(setting.key, []).append(_seconds(command(machine, subject, setting)))
        print(f"{subject.name}: round {round + 1} of {rounds}", file=sys.stderr, flush=True)
    return times


def _seconds(line: Command) -> float:
    try:
        done = run(line.argv, line.env, DEADLINE)
    except LaunchError:
        return math.nan
    found = METRIC.search(done.stdout) if done.exit_code == 0 else None
    return float(found[1]) if found else math.nan


def outcomes(
    subject: str, folder: Path, chosen: Sequence[Setting], times: Mapping[str, Sequence[float]], *, quietest: bool
) -> list[Outcome]:
    """What was predicted from what is in the folder, against the times: of all rounds, or only of the fastest runs,
    which other users of the machine disturbed least."""
    profile = load(folder / f"{subject}.profile")
    mix = mix_of(profile)
    with Store.open(folder / f"{subject}.db") as store:
        evidence = StudyEvidence(store.data(), tuning_of(chosen, mix))
    as_is = times[DEFAULT.key]
    found = []
    for setting, prediction in zip(chosen, predict(mix, [evidence], chosen), strict=True):
        pairs = [(a, t) for a, t in zip(as_is, times[setting.key], strict=True) if a == a and t == t]
        if len(pairs) < 3:
            continue
        truth = ratio_interval([a for a, _ in pairs], [t for _, t in pairs], 0.95)
        if quietest:
            fastest = min(a for a, _ in pairs) / min(t for _, t in pairs)
            truth = Interval(fastest, min(truth.low, fastest), max(truth.high, fastest))
        found.append(Outcome(subject, str(setting), prediction.gain, truth))
    return found


def show(found: Sequence[Outcome], conditions: Mapping[str, object]) -> None:
    table = Table(title="As-is / with the setting, predicted and measured", title_justify="left")
    for name in ("subject", "setting", "predicted", "measured", "holds"):
        table.add_column(name, overflow="fold")
    for o in found:
        predicted = f"{o.predicted.mid:.3f} ({o.predicted.low:.3f} to {o.predicted.high:.3f})"
        truth = f"{o.measured.mid:.3f} ({o.measured.low:.3f} to {o.measured.high:.3f})"
        table.add_row(o.subject, o.setting, predicted, truth, "yes" if o.held else "overlaps" if o.compatible else "no")
    Console(width=120).print(table)
    held, compatible = sum(o.held for o in found), sum(o.compatible for o in found)
    width = sorted(math.log(o.predicted.high / o.predicted.low) for o in found)[len(found) // 2] if found else 0.0
    print(f"{held} of {len(found)} intervals hold the measured ratio, {compatible} overlap with its interval.")
    known = sorted(math.log(o.measured.high / o.measured.low) for o in found)[len(found) // 2] if found else 0.0
    if known > width:
        print("The machine was too busy to tell: the measured ratios are known less well than they were predicted.")
    document = {
        "predictions": len(found),
        "held": held,
        "share_held": round(held / len(found), 3) if found else None,
        "compatible": compatible,
        "median_width_percent": round(100 * math.expm1(width), 2),
        "measured_width_percent": round(100 * math.expm1(known), 2),
        "outcomes": [
            {
                "subject": o.subject,
                "setting": o.setting,
                "predicted": [round(end, 4) for end in (o.predicted.low, o.predicted.mid, o.predicted.high)],
                "measured": [round(end, 4) for end in (o.measured.low, o.measured.mid, o.measured.high)],
                "held": o.held,
            }
            for o in found
        ],
        "conditions": dict(conditions),
    }
    print(json.dumps(document))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--subjects", nargs="*", help="names; else all")
    parser.add_argument("--mpirun", help="the MPI to use; else the one beside this Python, which mpi4py needs")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--quietest", action="store_true")
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
        "truth": "fastest runs" if arguments.quietest else "all rounds",
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
            used = [setting for setting in map(Setting.from_key, times) if not setting.is_default]
            found += outcomes(path.name.removesuffix(".times.json"), folder, used, times, quietest=arguments.quietest)
        show(found, conditions)


def one(
    subject: Subject, folder: Path, chosen: Sequence[Setting], machine: Machine, program: Path, rounds: int
) -> None:
    """Profile, study and times of one subject."""
    path = folder / f"{subject.name}.profile"
    line = command(machine, subject, DEFAULT)
    walls = tuple(run(line.argv, line.env, DEADLINE).seconds for _ in range(3))
    profile = profile_of(line, DEADLINE, machine, folder)
    save(replace(profile, origin=replace(profile.origin, as_is=walls)), path)
    wanted = {gap.case: gap.sizes for gap in gaps(mix_of(load(path)), [], worth=0.001)}
    print(f"{subject.name}: measuring {', '.join(map(str, wanted))}", file=sys.stderr, flush=True)
    measured(folder / f"{subject.name}.db", wanted, chosen, machine, program)
    times = timed(machine, subject, chosen, rounds)
    (folder / f"{subject.name}.times.json").write_text(json.dumps(times))


if __name__ == "__main__":
    main()
