"""The runs behind benchmarks/prediction.py: profile, study and times of some programs, piece by piece into a folder.

Whatever is there already is not made again, so a folder can be filled bit by bit while a machine is quiet. Names of
places on the machine are taken out of what is kept.
"""

from __future__ import annotations

import json
import math
import random
import re
import sqlite3
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from unisono.advise.apply import resolve
from unisono.advise.gaps import gaps
from unisono.advise.kinds import MEASURED
from unisono.advise.measuring import Wanted, matrix_for, study_for, tuning_of
from unisono.advise.mix import Mix, mix_of
from unisono.advise.recording import profile_of
from unisono.cmdline.command import Command
from unisono.cmdline.rewrite import with_setting
from unisono.core.errors import LaunchError
from unisono.core.interval import Interval
from unisono.core.vocabulary import DEFAULT, PRELOAD, UNISONO, Setting, launch_part
from unisono.launch.process import run
from unisono.library.native import bench_program
from unisono.machine.description import Machine
from unisono.profile.file import load, save
from unisono.profile.recorded import Profile
from unisono.study.begin import begin
from unisono.study.engine import Engine, Item, Task
from unisono.study.matrix import CaseMatrix, Matrix
from unisono.study.ours import prepare
from unisono.study.store import Store
from unisono.tuning.contents import StudyPart, Tuning
from unisono.tuning.plans import Plan

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
METRIC = re.compile(r"Time in seconds = *([0-9.]+)")
LAUNCHES = 5
"""Of every setting in the study."""
BEFORE, BEFORE_KEY = 3, "before"
"""Runs as it is before the profile and after it, as `unisono profile --as-is 6` makes them; where their times are."""
AS_IS = 3
"""Runs as it is in every round: an error of theirs would be in all ratios."""
OURS = Setting({PRELOAD: UNISONO})
"""Our library in the ranks, with the rules that the study decides."""
SETTINGS = (
    {"pml": "ob1"},
    {"pml": "ob1", "btl": "self,tcp"},
    {"pml": "ucx"},
    {"pml": "ucx", "UCX_RNDV_THRESH": "1kb"},
    {"pml": "ucx", "UCX_RNDV_THRESH": "16mb"},
    {"coll": "basic"},
    {"coll": "tuned"},
    {"coll": "sm"},
)
"""Of the launch: what people try, useful or not. What a machine does not have is left out."""
DEADLINE = 120.0

Times = dict[str, list[list[float]]]
"""Setting's key -> the program's own times in each round (NaN for a run that failed)."""


@dataclass(frozen=True)
class Subject:
    """A program as it would be run by hand; what it times of itself is nearly all it does."""

    name: str
    ranks: int
    program: tuple[str, ...]


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
        Subject("fft-large", ranks, (fft, "--grid", "128", "128", "64", "--steps", "60")),
        Subject("fft-small", ranks, (fft, "--grid", "32", "32", "16", "--steps", "5000")),
        Subject("fft-tiny", ranks, (fft, "--grid", "16", "8", "8", "--steps", "30000")),
        Subject("halo", ranks, (*halo, "--grid", "512", "512", "--steps", "400", "--every", "1")),
        Subject("halo-small", ranks, (*halo, "--grid", "64", "64", "--steps", "15000", "--exchange", "sendrecv")),
    ]


def settings(machine: Machine) -> list[Setting]:
    assert machine.mpi is not None
    known = machine.mpi.components
    there = [
        Setting(setting)
        for setting in SETTINGS
        if all(setting[name] in known.get(name, []) for name in ("pml", "coll") if name in setting)
    ]
    return [*there, OURS]


class Piece:
    """A time limit; work is left off between two runs."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    @property
    def over(self) -> bool:
        return time.monotonic() > self._end


def make(folder: Path, names: Sequence[str], rounds: int, machine: Machine, seconds: float) -> bool:
    """Fills the folder for at most about so many seconds; whether it is full. Subjects take turns, round by round."""
    assert machine.mpi is not None and machine.mpi.mpicc is not None
    piece = Piece(seconds)
    wanted = [subject for subject in subjects(folder, machine) if not names or subject.name in names]
    program = bench_program(machine.mpi.mpicc)
    chosen = settings(machine)
    for subject in wanted:
        if piece.over:
            return False
        _profile(subject, folder, machine)
        if piece.over or not _study(subject, folder, chosen, machine, program, piece):
            return False
    for round in range(rounds):
        for subject in wanted:
            if not _round(subject, folder, chosen, machine, round, piece):
                return False
    return True


# -- what a prediction is made from --------------------------------------------------------------------------------


def _profile(subject: Subject, folder: Path, machine: Machine) -> None:
    path = folder / f"{subject.name}.profile"
    if path.exists():
        return
    print(f"{subject.name}: profiling", file=sys.stderr, flush=True)
    line = command(machine, subject, DEFAULT)
    before = [run(line.argv, line.env, DEADLINE) for _ in range(BEFORE)]
    profile = profile_of(line, DEADLINE, machine, folder)
    before += [run(line.argv, line.env, DEADLINE) for _ in range(BEFORE)]
    walls = tuple(done.seconds for done in before)
    _keep_times(folder, subject, {BEFORE_KEY: [[found(done.stdout)] for done in before]})
    save(without_places(replace(profile, origin=replace(profile.origin, as_is=walls))), path)


def _study(
    subject: Subject, folder: Path, chosen: Sequence[Setting], machine: Machine, program: Path, piece: Piece
) -> bool:
    """All settings at all sizes the program uses, in interleaved launches; whether it is done."""
    path = folder / f"{subject.name}.db"
    if path.exists():
        return True
    wanted: Wanted = {gap.case: gap.sizes for gap in gaps(mix_of(load(folder / f"{subject.name}.profile")), [], 0.001)}
    print(f"{subject.name}: measuring {', '.join(map(str, wanted))}", file=sys.stderr, flush=True)
    study = study_for(wanted, machine).model_copy(update={"parameters": {"coll": [UNISONO]}})
    ours = prepare(study, machine, program)
    matrix = matrix_for(study, machine, wanted, ours)
    parts: dict[Setting, list[Setting]] = {}
    for setting in [DEFAULT, *(setting for setting in chosen if setting != OURS)]:
        parts.setdefault(launch_part(setting, matrix.scope), []).append(setting)
    unfinished = path.with_suffix(".part.db")
    unfinished.unlink(missing_ok=True)
    with begin(unfinished, study, machine, matrix, ours) as store:
        crowded = study.cases.oversubscribe
        engine = Engine(
            store, machine, program, scope=matrix.scope, measure=study.measure, oversubscribe=crowded, ours=ours
        )
        for number in range(1, LAUNCHES + 1):
            tasks = []
            for launch, inside in parts.items():
                for nodes, ppn in matrix.groups():
                    items = tuple(
                        Item(c.case, size, _inside(c, launch, inside, matrix)) for c, size in _cells(matrix, nodes, ppn)
                    )
                    tasks.append(Task(launch, nodes, ppn, number, items))
            random.Random(number).shuffle(tasks)
            for task in tasks:
                if piece.over:
                    return False
                engine.run(task)
        store.forget_raw()
    forget_places(unfinished)
    unfinished.rename(path)
    return True


def _inside(found: CaseMatrix, launch: Setting, inside: Sequence[Setting], matrix: Matrix) -> tuple[Setting, ...]:
    """What is compared within a launch; our own algorithms within that of the default."""
    own = found.under(DEFAULT, matrix.scope) if launch.is_default else []
    return tuple(dict.fromkeys([*inside, *own]))


def _cells(matrix: Matrix, nodes: int, ppn: int) -> list[tuple[CaseMatrix, int]]:
    return [(c, size) for c in matrix.group(nodes, ppn) for size in c.sizes]


def tuning(folder: Path, subject: str, chosen: Sequence[Setting], mix: Mix) -> Tuning:
    """A plan for every setting, whatever it is worth; the rules of our library are those the study decides."""
    with Store.open(folder / f"{subject}.db") as store:
        decided = tuning_of(store.data())
    cases = {(s.case.nodes, s.case.ppn) for s in mix.spots if s.kind in MEASURED and s.case is not None}
    one = Interval(mid=1.0, low=1.0, high=1.0)
    names = {s.case.collective for s in mix.spots if s.kind in MEASURED and s.case is not None}
    plans = [
        Plan(nodes=nodes, ppn=ppn, launch=setting, gain=dict.fromkeys(sorted(names), one))
        for nodes, ppn in sorted(cases)
        for setting in [DEFAULT, *chosen]
        if setting != OURS
    ]
    ours = [plan for plan in decided.plan if plan.launch == OURS and OURS in chosen]
    return Tuning(
        format="unisono-tuning",
        version=1,
        name="prediction",
        created="",
        made_by="benchmarks/prediction.py",
        study=StudyPart(id="", name="prediction", method="race", margin=0.03, confidence=0.95),
        plan=(*plans, *ours),
    )


# -- what is true --------------------------------------------------------------------------------------------------


def command(machine: Machine, subject: Subject, setting: Setting) -> Command:
    """The subject's line with a setting, as `unisono run` makes it."""
    return with_setting(_argv(machine, subject), setting, machine)


def _argv(machine: Machine, subject: Subject) -> list[str]:
    assert machine.mpi is not None
    root = ["--allow-run-as-root"] if machine.root_user else []
    return [machine.mpi.mpirun, *root, "-n", str(subject.ranks), *subject.program]


def _round(
    subject: Subject, folder: Path, chosen: Sequence[Setting], machine: Machine, number: int, piece: Piece
) -> bool:
    """One round of runs, in random order, unless it is there; whether it is."""
    times = times_of(folder, subject.name)
    if len(times.get(DEFAULT.key, [])) > number:
        return True
    lines = {setting: command(machine, subject, setting) for setting in [DEFAULT, *chosen] if setting != OURS}
    mix = mix_of(load(folder / f"{subject.name}.profile"))
    served = tuning(folder, subject.name, [OURS], mix)
    served = served.model_copy(update={"plan": tuple(plan for plan in served.plan if plan.launch == OURS)})
    if served.plan:
        lines[OURS] = resolve(served, _argv(machine, subject), machine)[0]
    order = [*[DEFAULT] * (AS_IS - 1), *lines]
    random.Random(f"{subject.name}/{number}").shuffle(order)
    seconds: dict[str, list[float]] = {}
    for setting in order:
        if piece.over:
            return False
        seconds.setdefault(setting.key, []).append(_seconds(lines[setting]))
    for key, values in seconds.items():
        times.setdefault(key, []).append(values)
    _keep_times(folder, subject, times)
    print(f"{subject.name}: round {number + 1}", file=sys.stderr, flush=True)
    return True


def times_of(folder: Path, subject: str) -> Times:
    found: Times = json.loads((folder / f"{subject}.times.json").read_text())
    return found


def _keep_times(folder: Path, subject: Subject, times: Mapping[str, Sequence[Sequence[float]]]) -> None:
    path = folder / f"{subject.name}.times.json"
    path.with_suffix(".new").write_text(json.dumps(times))
    path.with_suffix(".new").rename(path)


def _seconds(line: Command) -> float:
    try:
        done = run(line.argv, line.env, DEADLINE)
    except LaunchError:
        return math.nan
    return found(done.stdout) if done.exit_code == 0 else math.nan


def found(output: str) -> float:
    """What the program says of its time; NaN where it says nothing."""
    match = METRIC.search(output)
    return float(match[1]) if match else math.nan


# -- what is not kept ----------------------------------------------------------------------------------------------


def without_places(profile: Profile) -> Profile:
    """The profile without the folders of this machine."""
    origin = replace(profile.origin, command=_bare(profile.origin.command))
    frames = tuple(replace(frame, file=PurePath(frame.file).name) for frame in profile.frames)
    return replace(profile, origin=origin, frames=frames)


def forget_places(path: Path) -> None:
    """The same of a study."""
    db = sqlite3.connect(path, isolation_level=None)
    for row, line, stderr in db.execute("SELECT id, command, stderr FROM launch").fetchall():
        db.execute("UPDATE launch SET command=?, stderr=? WHERE id=?", (_bare(line), _bare(stderr), row))
    (text,) = db.execute("SELECT value FROM meta WHERE key='machine'").fetchone()
    bare = re.sub(r'"/[^"]*/([^"/]*)"', r'"\1"', text)
    db.execute("UPDATE meta SET value=? WHERE key='machine'", (bare,))
    db.execute("VACUUM")
    db.close()


def _bare(text: str) -> str:
    return re.sub(r"(?<![\w.~-])~?/(?:[^\s/:'\"]+/)*([^\s/:'\"]*)", r"\1", text)
