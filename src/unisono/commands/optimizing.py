"""`unisono optimize`: the whole cycle for one program, within a budget."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from unisono.advise.journal import Files, Journal, Outcome, open_journal
from unisono.advise.measuring import Wanted, measure, study_for
from unisono.advise.optimize import Optimizer, World
from unisono.advise.recording import profile_of
from unisono.advise.replayed import Subject, replay
from unisono.advise.story import read_story
from unisono.cmdline.command import Command
from unisono.cmdline.job import nodes_of
from unisono.cmdline.missing import refuse_missing
from unisono.commands.as_it_is import described
from unisono.commands.busy import warn_where_busy
from unisono.commands.console import err, out, print_json
from unisono.commands.interrupted import terminated_like_interrupted
from unisono.commands.leftovers import remove_leftovers
from unisono.commands.progress import StudyProgress
from unisono.commands.remembered import started, started_by_given
from unisono.commands.singletons import refuse_singletons
from unisono.commands.userline import mpirun_meant, words_of
from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.core.vocabulary import Case, Condition
from unisono.core.writing import write
from unisono.library.native import bench_program
from unisono.library.recorder import recorder
from unisono.machine.description import Machine
from unisono.mpi.launchers import BARE, step
from unisono.profile.recorded import Profile
from unisono.report.story import write_story
from unisono.search.search import Hooks
from unisono.study.config import parse_duration
from unisono.study.database import make_folder

NOTHING, UNDECIDED = 1, 3
STATUS: dict[Outcome, int] = {
    "faster": 0,
    "nothing": NOTHING,
    "undecided": UNDECIDED,
    "not measured": UNDECIDED,
    "": UNDECIDED,
}
"""2 is bad input, as everywhere."""


def optimize(
    argv: list[str],
    *,
    output: Path,
    budget: str,
    metric: str | None,
    runs: int,
    resume: bool,
    json: bool,
    timeout: str | None = None,
    mpirun: str | None = None,
) -> int:
    """Exit status 0 for a proven gain, NOTHING where there is none, UNDECIDED where nothing is known yet;
    KeyboardInterrupt and UserError are left to the caller."""
    files = Files(output)
    words = words_of(argv)
    given = started_by_given(words, mpirun) if mpirun is not None else None
    if given is not None:
        words = given.words
    elif resume:
        words = _begun_with(words, files)
    seconds = parse_duration(budget, "--budget")
    longest = parse_duration(timeout, "--timeout") if timeout is not None else math.inf
    if resume:
        remove_leftovers()
    refuse_singletons(words, os.environ)
    machine = started(
        described(given.mpirun if given is not None else mpirun_meant(words)), step.words_of(words, os.environ)
    )
    machine = machine.model_copy(update={"nodes": nodes_of(words, machine)})
    refuse_missing(words, machine, os.environ)
    journal = open_journal(files, words, machine, metric=metric, pairs=runs, resume=resume)
    make_folder(files.directory)  # or it is refused before the program has run
    journal.busy = max(journal.busy, warn_where_busy(len(machine.cpus)))
    _build(machine)
    with terminated_like_interrupted(files.directory):
        Optimizer(journal, machine, files, seconds, _world(machine, files), longest).run()
    return tell(journal, files, json=json)


def _build(machine: Machine) -> None:
    """What is built once does not count against the budget: it may take longer than that."""
    if machine.mpi is not None and machine.mpi.mpicc is not None:
        for build in (recorder, bench_program):
            build(machine.mpi.mpicc, _say)


def _say(sentence: str) -> None:
    err().print(sentence, markup=False)


def _begun_with(words: list[str], files: Files) -> list[str]:
    """The line with the launcher that --mpirun named when it was begun, where it names none now."""
    kept = Journal.load(files.journal).argv if files.journal.exists() else []
    return kept if words[0] in BARE and kept[1:] == words[1:] else words


def tell(journal: Journal, files: Files, *, json: bool) -> int:
    """Writes the story and prints it; the exit status."""
    story = read_story(journal, files)
    text = story.markdown()
    write(files.story, text)
    page = write_story(story, files.story.with_suffix(".html"))
    if json:
        print_json(story.as_dict())
        return STATUS[story.outcome]
    from rich.markdown import Markdown

    console = out()
    if console.is_terminal:
        console.print(Markdown(text))
    else:
        console.print(text, markup=False, soft_wrap=True)
    err().print(_("Story: {page} (as text: {story})").format(page=page, story=files.story), markup=False)
    return STATUS[story.outcome]


def _world(machine: Machine, files: Files) -> World:
    def bench(seconds: float) -> tuple[Path, float]:
        """The benchmark, and what is left of the `seconds` where it had to be built."""
        if machine.mpi is None or machine.mpi.mpicc is None:
            raise UserError(_("no mpicc beside this mpirun, so the benchmark cannot be built"))
        began = time.monotonic()
        return bench_program(machine.mpi.mpicc, _say), max(0.0, seconds - (time.monotonic() - began))

    def study(
        path: Path,
        wanted: Wanted,
        weights: Mapping[str, float],
        seconds: float,
        conditions: Mapping[Case, Condition],
    ) -> bool:
        program, left = bench(seconds)
        with StudyProgress(err(), samples=None, budget=left) as progress:
            hooks = Hooks(progress.measured, progress.plan, progress.waiting)
            asked = study_for(wanted, machine, weights)
            return measure(path, asked, wanted, machine, program, left, hooks, conditions)

    def record(line: Command, deadline: float) -> Profile:
        return profile_of(line, deadline, machine, files.directory, progress=_say)

    def replayed(path: Path, subjects: Sequence[Subject], seconds: float) -> None:
        program, left = bench(seconds)
        replay(path, subjects, machine, program, left)

    return World(record, study, _say, replay=replayed)
