"""Commands that use a tuning: export, run, verify."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from rich.table import Table

from unisono.cmdline.command import Command
from unisono.cmdline.missing import refuse_missing
from unisono.commands.as_it_is import described
from unisono.commands.busy import warn_where_busy
from unisono.commands.console import err, out, print_json, say
from unisono.commands.remembered import compiler, launcher, started_by
from unisono.commands.singletons import refuse_singletons
from unisono.commands.userline import words_of
from unisono.core.errors import UserError
from unisono.core.language import _, translated
from unisono.inventory.describe import describe
from unisono.machine.description import Machine
from unisono.study.config import parse_duration
from unisono.study.data import StudyData
from unisono.study.files import Outputs
from unisono.study.store import Store
from unisono.tuning import Tuning, read
from unisono.tuning.asked import level_of
from unisono.tuning.asked import plan as choose_plan
from unisono.tuning.asked import weights as chosen_weights
from unisono.tuning.plans import Plan
from unisono.tuning.stale import stale_notes

_PROFILED_RUNS = 3
"""Of each, as-is and tuned: fewer cannot tell a changed call from how runs differ."""


def export(
    path: Path,
    format: str,
    output: Path,
    *,
    check: bool,
    for_: str | None,
    weights: str | None,
    nodes: int | None,
    ppn: int | None,
    json: bool,
    mpirun: str | None,
    mpicc: str | None,
    study: Path | None = None,
) -> int:
    """Writes the files of one format; with `check`, exit status 1 when the MPI did not take them.

    Files that a person edited since an earlier export are never overwritten: with `check` they are checked as they are.
    """
    from unisono.export import caveats, edited, exportable, unsaid
    from unisono.export import export as write
    from unisono.export.check import check as check_export

    tuning = read(path)
    chosen = chosen_weights(for_, weights)
    if format == "list":
        return _list_formats(tuning, choose_plan(tuning, nodes, ppn, chosen), chosen, mpirun, mpicc, json=json)
    plan, instead = exportable(tuning, choose_plan(tuning, nodes, ppn, chosen), format, chosen)
    chosen_mpi = launcher(mpirun, tuning.mpi)
    machine = describe(chosen_mpi, compiler(mpicc, chosen_mpi, tuning.mpi))
    notes = [*stale_notes(tuning, machine), *instead, *caveats(tuning, plan, machine, format)]
    changed = edited(format, output)
    if changed and not check:
        raise UserError(
            _(
                "{path}: was edited after it was exported, so it is not overwritten; check the edited file with "
                "--check, or remove it to export it again"
            ).format(path=changed[0])
        )
    for file in changed:
        err().print(
            _("{file}: was edited after it was exported, so it is kept; --check checks the edited file").format(
                file=file
            ),
            markup=False,
        )
    if not changed:
        notes += unsaid(tuning, format, plan, machine, output)
    files = changed or write(tuning, format, plan, machine, output, study=lambda: _study(study, path))
    found = check_export(tuning, format, plan, machine, output) if check else None
    if json:
        print_json(
            {
                "files": [str(file) for file in files],
                "notes": notes,
                "check": found.as_dict() if found else None,
            }
        )
    else:
        console = out()
        for file in files:
            console.print(str(file), markup=False)
        for note in notes:
            err().print(_("Note: {note}").format(note=translated(note)), markup=False)
        if found is not None:
            console.print(found.table())
    return 0 if found is None or found.taken else 1


def _study(named: Path | None, tuning: Path) -> StudyData:
    """The study named, else the one beside the tuning. Raises UserError where it is not there."""
    with Store.open(named or Outputs(tuning.parent).study) as store:
        return store.data()


def _list_formats(
    tuning: Tuning,
    plan: Plan,
    chosen: dict[str, float] | None,
    mpirun: str | None,
    mpicc: str | None,
    *,
    json: bool,
) -> int:
    """What the plan can be written as, for the machine's MPI."""
    from unisono.export import offered

    own = launcher(mpirun, tuning.mpi)
    rows = offered(tuning, plan, describe(own, compiler(mpicc, own, tuning.mpi)), chosen)
    if json:
        print_json([{"format": name, "of": label, "says": says} for name, label, says in rows])
        return 0
    table = Table(_("format"), _("what it is"), _("what it can hold of this plan"))
    for name, label, says in rows:
        table.add_row(name, _(label), how_much(tuning, plan, name, chosen) if says else _("nothing"))
    out().print(table)
    return 0


def how_much(tuning: Tuning, plan: Plan, format: str, weights: dict[str, float] | None) -> str:
    """Of the plan, in a format that can say something of it."""
    from unisono.export import exportable

    said, _notes = exportable(tuning, plan, format, weights)
    return _("all or part") if said is plan else _("the best without our library")


def run(
    path: Path,
    argv: list[str],
    *,
    for_: str | None,
    weights: str | None,
    layout: bool,
    print_only: bool,
    mpirun: str | None = None,
    reproducible: str | None = None,
) -> int:
    """Replaces this process's work by the user's command with the setting added; its exit status is ours. `layout`: in
    the tuning's layout, and with its setting where it has one. `reproducible`: one of REPRODUCIBLE, else the
    tuning's."""
    tuning = read(path, layouts=layout)
    if reproducible is not None:
        study = tuning.study.model_copy(update={"reproducible": level_of(reproducible)})
        tuning = tuning.model_copy(update={"study": study})
        os.environ.setdefault("UNISONO_REQUIRED", "1")  # a program that is not served would not be what was asked for
    own = started_by(tuning, words_of(argv), mpirun)
    refuse_singletons(own.words, os.environ)
    machine = describe(own.mpirun)
    refuse_missing(own.words, machine, os.environ)
    weighted = chosen_weights(for_, weights)
    line = _in_layout(tuning, own.words, machine) if layout else Command(own.words, {}, None, [])
    line = _with_plan(tuning, line, machine, weighted, say)
    for note in [*own.notes, *line.notes]:
        say(translated(note))
    if print_only:
        print(line.shell)  # noqa: T201 - one line to paste, however long: no console that wraps it
        return 0
    return _call(line)


def _with_plan(
    tuning: Tuning,
    line: Command,
    machine: Machine,
    weights: Mapping[str, float] | None,
    building: Callable[[str], None],
) -> Command:
    """The line with the tuning's setting for its ranks, where it has any; `building` hears of a build."""
    if not tuning.plan:
        return line
    from unisono.advise.apply import apply

    tuned = apply(tuning, line.argv, machine, weights, progress=building)
    return replace(tuned, env={**line.env, **tuned.env}, notes=[*line.notes, *tuned.notes])


def _in_layout(tuning: Tuning, words: list[str], machine: Machine) -> Command:
    from unisono.hybrid.apply import with_layout

    line = with_layout(tuning, words, machine, os.environ)
    if tuning.plan:
        return line  # which says what is stale itself
    return replace(line, notes=[*stale_notes(tuning, machine), *line.notes])


def _call(line: Command) -> int:
    """What a launcher says on stderr is passed on, and heard: it may say why it starts nothing."""
    from unisono.cmdline.preload import launcher_of
    from unisono.launch.failure import refusal
    from unisono.profile.passed import Passed

    with ExitStack() as streams:
        heard = streams.enter_context(Passed(2)) if launcher_of(line.argv).words is not None else None
        try:
            env = {**os.environ, **line.env}
            done = subprocess.run(line.argv, env=env, stderr=None if heard is None else heard.fileno(), check=False)
        except OSError as error:
            raise UserError(
                _("{argv}: cannot be started: {strerror}").format(argv=line.argv[0], strerror=error.strerror)
            ) from error
    if done.returncode and heard is not None and (refused := refusal(heard.text)) is not None:
        say(_("the launcher did not start the program: {reason}").format(reason=translated(refused.reason)))
    # As a shell reports it: 128 + the signal that ended the launcher.
    return done.returncode if done.returncode >= 0 else 128 - done.returncode


def verify(
    path: Path,
    argv: list[str],
    *,
    metric: str | None,
    runs: int,
    timeout: str,
    for_: str | None,
    weights: str | None,
    json: bool,
    profile: bool = False,
    layout: bool = False,
    mpirun: str | None = None,
) -> int:
    """As-is against tuned; exit status 1 when the tuned program is slower. `profile`: also which calls changed.
    `layout`: tuned is what `run --layout` would run."""
    from unisono.advise.runs import Run
    from unisono.advise.verify import as_is_and_tuned, check_asked, compare

    if profile and layout:
        raise UserError(
            _(
                "--profile and --layout cannot be used together: --profile compares the calls of the same ranks, and "
                "--layout changes the ranks"
            )
        )
    check_asked(metric, runs)
    deadline, weighted = parse_duration(timeout, "--timeout"), chosen_weights(for_, weights)
    tuning = read(path, layouts=layout)
    own = started_by(tuning, words_of(argv), mpirun)
    refuse_singletons(own.words, os.environ)
    words, machine, console = own.words, described(own.mpirun), err()
    refuse_missing(words, machine, os.environ)
    for note in own.notes:
        console.print(_("Note: {note}").format(note=translated(note)), markup=False, soft_wrap=True)

    def building(sentence: str) -> None:
        console.print(sentence, markup=False, soft_wrap=True)

    def progress(done: Run) -> None:
        value = f"{done.value:.6g} s" if done.value is not None else _(done.status)
        console.print(
            (_("  run {number}, tuned: {value}") if done.tuned else _("  run {number}, as it is: {value}")).format(
                number=done.pair + 1, value=value
            ),
            markup=False,
        )

    warn_where_busy(len(machine.cpus))
    if layout:
        from unisono.hybrid.apply import as_it_is

        as_is, layout_words = as_it_is(tuning, words, machine, os.environ)
        tuned = _with_plan(tuning, _in_layout(tuning, words, machine), machine, weighted, building)
        setting = {"layout": layout_words}
    else:
        as_is, tuned, setting = as_is_and_tuned(tuning, words, machine, weighted, building)
    for note in tuned.notes:
        console.print(_("Note: {note}").format(note=translated(note)), markup=False, soft_wrap=True)
    begun = _("{runs} pairs of runs in turns: one run as it is, one run tuned. Each run is listed when it ends")
    console.print(begun.format(runs=runs), markup=False)
    found = compare(as_is, tuned, setting, metric=metric, runs=runs, deadline=deadline, progress=progress)
    changes = None
    if profile:
        from unisono.commands.advising import verify_profile

        changes = verify_profile(path, words, machine, runs=_PROFILED_RUNS, timeout=timeout, chosen=weighted)
    if json:
        print_json({**found.as_dict(), **({"changes": changes.as_dict()} if changes else {})})
    else:
        out().print(found.render())
        if changes is not None:
            out().print(changes.render())
    return found.exit_status
