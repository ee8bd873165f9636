"""--dry-run: what a study will do before it does it, with every command line."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from unisono.cmdline.command import Command
from unisono.commands.console import out, print_json
from unisono.core.language import _, translated
from unisono.core.sizes import format_size
from unisono.core.vocabulary import LIBRARY_NAME
from unisono.library.native import PROGRAM_NAME
from unisono.machine.description import Machine
from unisono.results.engine import Foreign, foreign, line_of
from unisono.search.planned import Estimate, estimate, planned
from unisono.study.asked import scope
from unisono.study.config import Study
from unisono.study.engine import Task, launch_command
from unisono.study.matrix import Matrix, expand
from unisono.study.ours import preloaded, wants_library


def show(study: Study, machine: Machine, *, json: bool) -> int:
    """--dry-run: every command line, what is measured in it, and how long it should take."""
    matrix = expand(study, machine, scope=scope(study))
    tasks = planned(study, matrix)
    other = foreign(study, machine, matrix)
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
        say(
            _(
                "# Our own algorithms are added to these: when the library starts, it says which of them can serve "
                "these ranks."
            )
        )
    say(_("# What is measured:"))
    for c in matrix.cases:
        say(
            (
                _("#   {case}: {settings} settings at {first}")
                if len(c.sizes) == 1
                else _("#   {case}: {settings} settings, {sizes} message sizes, {first} to {last}")
            ).format(
                case=translated(str(c.case)),
                settings=len(c.settings),
                sizes=len(c.sizes),
                first=format_size(c.sizes[0]),
                last=format_size(c.sizes[-1]),
            )
        )
    for name, values in study.boot.items():
        say(
            _(
                "# {name} can only be set at boot: run this study once under each of {name} = {values}, then compare "
                "the studies with unisono compare"
            ).format(name=name, values=", ".join(values))
        )
    for round, group in itertools.groupby(lines, key=lambda pair: pair[1].round):
        say(_("# Round {round}").format(round=round))
        for shell, task in group:
            say(f"{shell}  # {_measured_in(task)}")
    if study.method.name == "race":
        say(
            _(
                "# Later rounds launch the undecided settings again, with more message sizes where the best setting "
                "changes."
            )
        )
    about = (
        _("# About {launches} launches, {samples} samples, {duration}")
        if study.method.name == "classic"
        else _("# A race decides on the way what it launches; about {launches} launches, {samples} samples, {duration}")
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
