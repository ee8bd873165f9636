"""What a study will do before it does it: which study, narrowed how, how long, and every command line."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError
from rich.console import Console

from unisono.commands.choosing import level_of
from unisono.commands.console import out, print_json
from unisono.errors import UserError
from unisono.language import _, translated
from unisono.launch.command import Command
from unisono.library.build import PROGRAM_NAME
from unisono.library.recorder import LIBRARY_NAME
from unisono.machine.description import Machine
from unisono.results.engine import Foreign, line_of
from unisono.results.programs import BENCHMARKS, located, unknown
from unisono.search import classic, race
from unisono.sizes import format_size, parse_size
from unisono.study.config import Study, parse_duration, read_study, ready_made, ready_made_names
from unisono.study.engine import Task, launch_command
from unisono.study.estimate import RACE_LAUNCHES, RACE_SAMPLES, start_seconds, work_seconds
from unisono.study.matrix import Matrix, expand
from unisono.study.ours import preloaded, wants_library
from unisono.toml import explain_validation
from unisono.vocabulary import CALL_SCOPE


def find(name: str) -> Study:
    """A study file, or a ready-made one by name. Raises UserError when it is neither."""
    path = Path(name)
    if not path.is_file():
        known = ready_made(name)
        if known is None:
            names = ", ".join(ready_made_names())
            raise UserError(
                _("{name}: no such study file; ready-made studies are {names}").format(
                    name=name or _("no name"), names=names
                )
            )
        path = known
    return read_study(path)[0]


def narrowed(
    study: Study,
    *,
    method: str | None,
    budget: str | None,
    collectives: Sequence[str],
    nodes: Sequence[int],
    ppn: int | None,
    sizes: Sequence[str],
    oversubscribe: bool,
    benchmark: str | None = None,
    program: str | None = None,
    reproducible: str | None = None,
) -> Study:
    """The study with what the command line says otherwise. Raises UserError as a study file would."""
    document = study.model_dump(by_alias=True)
    if collectives:
        document["cases"]["collectives"] = list(collectives)
        document["weights"] = {name: w for name, w in study.weights.items() if name in collectives}
    if nodes:
        document["cases"]["nodes"] = list(nodes)
    if ppn is not None:
        document["cases"]["ppn"] = [ppn]
    if oversubscribe:
        document["cases"]["oversubscribe"] = True
    if sizes:
        wanted = sorted({parse_size(size, "--size") for size in sizes})
        if wanted[0] == 0 and any(name != "barrier" for name in document["cases"]["collectives"]):
            raise UserError(_("--size 0: only a barrier sends nothing; write for example 8, 16K or 1M"))
        document["sizes"] = {"from": wanted[0], "to": wanted[-1], "step": 1e300, "extra": wanted}
    if program is not None:
        document["measure"]["program"] = program
    if reproducible is not None:
        document["method"]["reproducible"] = level_of(reproducible)
    if benchmark is not None:
        document["measure"]["benchmark"] = benchmark
        method = "classic" if benchmark in BENCHMARKS and method is None else method
    if method is not None:
        document["method"]["name"] = method
        if method == "classic" and study.method.name == "race":
            # The classic procedure: five launches of everything, and no budget (--budget sets one).
            document["method"].update(budget=None, launches=5)
    if budget is not None:
        document["method"]["budget"] = parse_duration(budget, "--budget")
    try:
        return Study.model_validate(document)
    except ValidationError as error:
        raise UserError(explain_validation(_("command line"), error)) from error


def foreign(study: Study) -> Foreign | None:
    """The other benchmark that is to measure. Raises UserError where it is not here, or does not measure a case."""
    name = study.measure.benchmark
    if name not in BENCHMARKS:
        return None
    if missing := unknown(name, study.cases.collectives):
        raise UserError(
            _("{label} does not measure {collectives}; take them out of the study").format(
                label=BENCHMARKS[name].label, collectives=", ".join(missing)
            )
        )
    return Foreign(name, located(name, study.measure.program))


def scope(study: Study) -> tuple[str, ...]:
    """What is switched inside launches: nothing in the classic procedure, where each setting has its launch."""
    return () if study.method.name == "classic" else CALL_SCOPE


def budget(study: Study, said_now: str | None) -> float | None:
    """Seconds this run of the driver may measure, by what was asked for."""
    return parse_duration(said_now, "--budget") if said_now is not None else study.method.budget


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


def show(study: Study, machine: Machine, *, json: bool) -> int:
    """--dry-run: every command line, what is measured in it, and how long it should take."""
    matrix = expand(study, machine, scope=scope(study))
    tasks = planned(study, matrix)
    other = foreign(study)
    lines = [(_line(study, machine, matrix, task, other), task) for task in tasks]
    total = estimate(study, matrix)
    if json:
        print_json(
            {
                "study": study.study.name,
                "machine": machine.name,
                "method": study.method.name,
                "launches": total.launches,
                "samples": total.samples,
                "seconds": round(total.seconds),
                "notes": list(matrix.notes),
                "cases": [
                    {
                        "collective": c.case.collective,
                        "nodes": c.case.nodes,
                        "ppn": c.case.ppn,
                        "sizes": list(c.sizes),
                        "settings": [dict(setting) for setting in c.settings],
                    }
                    for c in matrix.cases
                ],
                "commands": [
                    {"round": task.round, "command": line.shell, "setting": dict(task.setting)} for line, task in lines
                ],
            }
        )
        return 0
    _print(out(), study, machine, matrix, [(line.shell, task) for line, task in lines], total)
    return 0


def _line(study: Study, machine: Machine, matrix: Matrix, task: Task, other: Foreign | None) -> Command:
    if other is not None:
        return line_of(machine, task, other, study.measure, study.cases.oversubscribe, Path("message-sizes.txt"))
    line = launch_command(machine, task, matrix.scope, [PROGRAM_NAME], study.cases.oversubscribe)
    level = study.method.reproducible
    return preloaded(line, Path(LIBRARY_NAME), machine, level) if wants_library(study) else line


def _print(
    console: Console,
    study: Study,
    machine: Machine,
    matrix: Matrix,
    lines: Sequence[tuple[str, Task]],
    total: Estimate,
) -> None:
    def say(text: str) -> None:
        console.print(text, markup=False, soft_wrap=True)

    say(
        _("# Study {study} on {machine}, method {method}").format(
            study=study.study.name, machine=machine.name, method=study.method.name
        )
    )
    for note in matrix.notes:
        say(f"# {translated(note)}")
    if wants_library(study):
        say(_("# Our own algorithms come on top: which can serve these ranks is asked of the library when it starts."))
    say(_("# What is measured:"))
    for c in matrix.cases:
        say(
            _("#   {case}: {settings} settings, {sizes} message sizes, {first} to {last}").format(
                case=translated(str(c.case)),
                settings=len(c.settings),
                sizes=len(c.sizes),
                first=format_size(c.sizes[0]),
                last=format_size(c.sizes[-1]),
            )
        )
    for name, values in study.boot.items():
        say(
            _("# {name} is set at boot: run this study under {name} = {values}, then unisono compare").format(
                name=name, values=", ".join(values)
            )
        )
    for round, group in itertools.groupby(lines, key=lambda pair: pair[1].round):
        say(_("# Round {round}").format(round=round))
        for shell, task in group:
            say(f"{shell}  # {_measured_in(task)}")
    if study.method.name == "race":
        say(_("# Later rounds launch what is still in doubt again, with more message sizes where the best changes."))
    about = (
        _("# About {launches} launches, {samples} samples, {duration}")
        if study.method.name == "classic"
        else _("# About, as far as a race can tell beforehand: {launches} launches, {samples} samples, {duration}")
    ).format(launches=total.launches, samples=total.samples, duration=_duration(total.seconds))
    if study.method.budget:
        about = _("{estimate}; the budget is {budget}").format(estimate=about, budget=_duration(study.method.budget))
    say(about)


def _measured_in(task: Task) -> str:
    """ "alltoall, allreduce: 8 B to 64 MiB, 12 settings": what one launch measures."""
    collectives = ", ".join(dict.fromkeys(item.case.collective for item in task.items))
    sizes = [item.size for item in task.items]
    settings = {setting for item in task.items for setting in item.settings}
    sentence = _("{collectives}: {first} to {last}")
    if len(settings) > 1:
        sentence = _("{collectives}: {first} to {last}, {count} settings")
    return sentence.format(
        collectives=collectives, first=format_size(min(sizes)), last=format_size(max(sizes)), count=len(settings)
    )


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
