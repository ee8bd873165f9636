"""`unisono advise`: what a tuning would gain for a profiled program."""

from __future__ import annotations

import functools
import os
import shlex
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from unisono.advise.advice import Advice, advise, cut_to
from unisono.advise.apply import resolve
from unisono.advise.beside import REPLAYED, evidences_of, replays_in, studies_for
from unisono.advise.changes import Changes, changes, profiled
from unisono.advise.differing import differences, made_under, own_settings
from unisono.advise.measuring import measure, never_launched, study_for
from unisono.advise.mix import Mix, mix_of
from unisono.advise.recording import profile_of
from unisono.advise.replayed import matching, missing, replay, replaying, subjects
from unisono.advise.shown import rendered
from unisono.cmdline.command import Command
from unisono.cmdline.job import nodes_of
from unisono.commands.as_it_is import described
from unisono.commands.console import err, out, print_json
from unisono.commands.progress import StudyProgress
from unisono.commands.remembered import compiler, launcher, started, words_for_it
from unisono.core.errors import UserError
from unisono.core.language import _, ngettext, translated
from unisono.library.native import bench_program
from unisono.machine.description import Machine
from unisono.mpi.launchers import step
from unisono.profile.importers import import_profile
from unisono.profile.recorded import Profile
from unisono.search.search import Hooks
from unisono.study.config import parse_duration
from unisono.tuning import read, write
from unisono.tuning.contents import Tuning

_REPLAYING = 0.25
"""Of --budget, what replaying may take."""


def advise_command(
    profile: Path,
    tuning: Path,
    *,
    studies: Sequence[Path],
    output: Path | None,
    nodes: int | None,
    budget: str | None,
    json: bool,
) -> int:
    """Prints the advice; with `output` also writes the tuning cut down to what was chosen, or else to what is worth a
    trial. `budget`: first measure what the tuning lacks, for so long. Exit status 0 also when the advice is to change
    nothing, but 1 when `output` was to be written and there is nothing to write."""
    found = import_profile(profile)
    document = read(tuning)
    paths = list(studies)
    bench = functools.cache(lambda: _bench(document, found.origin.command))
    if budget is not None:
        seconds = parse_duration(budget, "--budget")
        seconds -= _replay(mix_of(found, nodes), bench, _REPLAYING * seconds, tuning.parent)
    advice = _advice(found, profile, document, tuning, paths, nodes)
    if budget is not None and advice.gaps:
        made = measured(advice, bench, seconds, tuning.parent)
        paths = [*paths, *made] if paths else []
        advice = _advice(found, profile, document, tuning, paths, nodes)
    if output is not None and advice.worth_writing is not None:
        write(cut_to(document, advice.case, advice.worth_writing), output)
    if json:
        print_json(advice.as_dict())
    else:
        console = out()
        console.print(rendered(advice))
        console.print()
        for line in advice.follow_up():
            console.print(line, markup=False, soft_wrap=True)
    if output is not None and advice.worth_writing is None:
        err().print(
            _("{output}: not written: nothing in {tuning} promises to make this program faster").format(
                output=output, tuning=tuning
            ),
            markup=False,
        )
        return 1
    return 0


def _advice(
    profile: Profile, path: Path, tuning: Tuning, tuning_path: Path, studies: Sequence[Path], nodes: int | None
) -> Advice:
    replayed = replays_in(tuning_path.parent)
    mix = mix_of(profile, nodes)
    mix = replace(mix, conditions={**mix.conditions, **matching(mix, replayed)})
    evidences = evidences_of(tuning, tuning_path, studies)
    command = profile.origin.command
    now = made_under(command, [plan.launch for plan in tuning.plan])
    said = differences(tuning, profile)
    if now is None and (own := own_settings(command)):
        said.append(
            _("the program was profiled with its own settings ({settings}), but the gain is over the default").format(
                settings=", ".join(own)
            )
        )
    for sentence in said:
        err().print(_("Note: {note}").format(note=translated(sentence)), style="yellow", markup=False)
    return advise(
        mix,
        tuning,
        evidences,
        now=now,
        tuning_path=str(tuning_path),
        again=shlex.join(
            ["unisono", "advise", str(path), "--tuning", str(tuning_path)]
            + [word for study in studies for word in ("--evidence", str(study))]
            + (["--nodes", str(nodes)] if nodes is not None else [])
        ),
        mpi=words_for_it(tuning.mpi),
        metric=profile.origin.metric,
        program=command,
        cpus=os.cpu_count(),
        replayed=replayed,
    )


def verify_profile(
    tuning: Path, words: list[str], machine: Machine, *, runs: int, timeout: str, chosen: dict[str, float] | None
) -> Changes:
    """For `unisono verify --profile`: the program as it is and with the tuning, `runs` profiled runs of each in turns,
    and which calls changed. Raises UserError when a run fails or cannot be recorded."""
    document = read(tuning)
    line, applied = resolve(document, words, machine, chosen)
    deadline = parse_duration(timeout, "--timeout")
    console = err()

    def progress(pair: int, tuned: bool) -> None:
        console.print(
            (_("  profiling run {number}, tuned") if tuned else _("  profiling run {number}, as it is")).format(
                number=pair + 1
            ),
            markup=False,
        )

    with tempfile.TemporaryDirectory(prefix=".unisono-", dir=Path.cwd()) as folder:

        def record(command: Command) -> Profile:
            return profile_of(command, deadline, machine, Path(folder))

        before, after = profiled(Command(words, {}, None, []), line, record, runs, progress)
    return changes(before, after, [*applied.plan.gain])


Bench = Callable[[], tuple[Machine, Path]]
"""This machine with the tuning's MPI, and unisono-bench for it."""


def _bench(tuning: Tuning, line: str) -> tuple[Machine, Path]:
    """`line` is how the program was started: the nodes that it names are the ones to measure on."""
    mpirun = launcher(None, tuning.mpi)
    machine = described(mpirun, compiler(None, mpirun, tuning.mpi))
    if machine.mpi is None or machine.mpi.mpicc is None:
        raise UserError(_("no mpicc beside this machine's mpirun, so the benchmark cannot be built"))
    try:
        words = shlex.split(line)
    except ValueError:
        words = []
    program = bench_program(machine.mpi.mpicc, lambda sentence: err().print(sentence, markup=False))
    machine = machine.model_copy(update={"nodes": nodes_of(words, machine)})
    return started(machine, step.words_of(words, os.environ)), program


def measured(advice: Advice, bench: Bench, seconds: float, folder: Path) -> list[Path]:
    """Measures what the advice lacks into studies in `folder`, in about `seconds`; continues what is there."""
    machine, program = bench()
    paths = []
    for path, gaps in studies_for(advice.gaps, folder):
        wanted = {gap.case: gap.sizes for gap in gaps}
        conditions = {gap.case: gap.condition for gap in gaps}
        part = seconds * len(gaps) / len(advice.gaps)
        with StudyProgress(err(), samples=None, budget=part) as progress:
            hooks = Hooks(progress.measured, progress.plan, progress.waiting)
            measure(path, study_for(wanted, machine), wanted, machine, program, part, hooks, conditions)
        paths.append(path)
    if never := never_launched(paths):
        said = ngettext(
            "{budget:.0f} s sufficed for all but {count} launch setting ({setting}), of which nothing is known; ask "
            "again with a larger --budget",
            "{budget:.0f} s sufficed for all but {count} launch settings ({setting} ...), of which nothing is known; "
            "ask again with a larger --budget",
            len(never),
        )
        note = said.format(budget=seconds, count=len(never), setting=never[0])
        err().print(_("Note: {note}").format(note=note), style="yellow", markup=False)
    return paths


def _replay(mix: Mix, bench: Bench, seconds: float, folder: Path) -> float:
    """Replays the hot calls as the program makes them, where nobody has; how many seconds it took."""
    wanted = missing(subjects(mix), replays_in(folder))
    if not wanted:
        return 0.0
    machine, program = bench()
    began = time.monotonic()
    err().print(replaying(wanted), markup=False)
    replay(folder / REPLAYED, wanted, machine, program, seconds)
    return time.monotonic() - began
