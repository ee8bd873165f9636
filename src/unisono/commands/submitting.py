"""`unisono tune --submit`: a job for each number of nodes, followed to its end; what they measured becomes one study.

Nothing here is needed for the jobs to go on: whoever follows them may leave, or be killed, and come back with --resume.
"""

from __future__ import annotations

import secrets
import shlex
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from unisono.commands.console import err, out, print_json
from unisono.commands.finish import Outcome, finish
from unisono.commands.tune import Wishes, node_counts
from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.mpi.launchers import step
from unisono.study.asked import find
from unisono.study.begin import stored_study
from unisono.study.config import parse_duration
from unisono.study.files import Outputs
from unisono.study.merge import merge
from unisono.study.store import Store
from unisono.submit import kept
from unisono.submit.flux import Flux
from unisono.submit.jobs import follow, progress, request, submitted
from unisono.submit.kept import Kept, KeptJob
from unisono.submit.pbs import Pbs
from unisono.submit.scheduler import Scheduler
from unisono.submit.slurm import Slurm

SCHEDULERS: dict[str, Scheduler] = {"slurm": Slurm(), "pbs": Pbs(), "flux": Flux()}
UNDECIDED = 3
_SHORTEST = 120.0
"""Seconds; less leaves no time to measure in."""


def submit(wishes: Wishes) -> int:
    """Exit status 0 when all was measured, UNDECIDED when the time did not suffice for some; KeyboardInterrupt and
    UserError are left to the caller."""
    scheduler = _scheduler(wishes.submit or "")
    directory = wishes.output
    continued = wishes.resume and kept.place(directory).exists()
    jobs = kept.read(directory) if continued else _begun(wishes, scheduler)
    if continued and (said := _differing(wishes, jobs)):
        raise UserError(
            _(
                "{path}: its jobs were asked for in other words; continue them without {said}, or choose another -o DIR"
            ).format(path=kept.place(directory), said=said)
        )
    if continued and jobs.scheduler != scheduler.name:
        raise UserError(
            _("{path}: its jobs are of {scheduler}: continue them with --submit {scheduler}").format(
                path=kept.place(directory), scheduler=jobs.scheduler
            )
        )
    if wishes.time is not None and continued:
        jobs = jobs.model_copy(update={"seconds": _seconds(wishes.time)})
    if wishes.submit_options is not None and continued:
        jobs = jobs.model_copy(update={"options": _options(wishes.submit_options)})
    if wishes.dry_run:
        return _show(scheduler, jobs, directory)
    if not continued and kept.place(directory).exists():
        raise UserError(
            _("{path}: exists; continue its jobs with --resume, or choose another -o DIR").format(
                path=kept.place(directory)
            )
        )
    with kept.alone(directory):
        try:
            jobs = submitted(scheduler, jobs, directory, _say)
            follow(scheduler, jobs, directory, _say)
        except KeyboardInterrupt:
            err().print(
                _(
                    "The jobs go on without this command. Follow them again: unisono tune --submit {name} --resume"
                ).format(name=scheduler.name),
                markup=False,
            )
            raise
        return _tell(jobs, directory, wishes)


def _scheduler(name: str) -> Scheduler:
    if name not in SCHEDULERS:
        raise UserError(
            _("--submit {name}: is not known; known are {known}").format(name=name[:80], known=", ".join(SCHEDULERS))
        )
    return SCHEDULERS[name]


def _options(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise UserError(
            _("--submit-options {text!r}: {error}; write for example '--partition=debug -A myproject'").format(
                text=text[:80], error=error
            )
        ) from error


def _seconds(text: str) -> float:
    seconds = parse_duration(text, "--time")
    if seconds < _SHORTEST:
        raise UserError(_("--time {text}: too short to measure in; at least 2m").format(text=text[:80]))
    return seconds


# -- what every job runs -------------------------------------------------------------------------------------------


def _begun(wishes: Wishes, scheduler: Scheduler) -> Kept:
    study = find(wishes.study or "quick")  # what is wrong with it is said before a job waits for hours
    counts = node_counts(wishes.nodes)
    if wishes.launcher is not None:
        step.parse(wishes.launcher)
    if wishes.time is None:
        raise UserError(_("--submit: say how long each job may take, for example --time 1h"))
    if wishes.machine is not None or wishes.hosts is not None:
        option = "--machine" if wishes.machine is not None else "--hosts"
        raise UserError(_("{option}: is not used with --submit, whose jobs know their nodes").format(option=option))
    token = secrets.token_hex(4)
    return Kept(
        scheduler=scheduler.name,
        seconds=_seconds(wishes.time),
        words=_words(wishes),
        options=_options(wishes.submit_options or ""),
        jobs=[KeptJob(nodes=n, name=f"unisono-{token}-{n}-1") for n in counts or study.cases.nodes],
    )


def _words(wishes: Wishes) -> list[str]:
    """Of `unisono tune`, without what differs from job to job."""
    path = Path(wishes.study) if wishes.study is not None else None
    words = [str(path.resolve()) if path is not None and path.is_file() else wishes.study or "quick"]
    pairs = (
        ("--method", wishes.method),
        ("--reproducible", wishes.reproducible),
        ("--budget", wishes.budget),
        ("--ppn", None if wishes.ppn is None else str(wishes.ppn)),
        ("--benchmark", wishes.benchmark),
        ("--benchmark-program", wishes.benchmark_program),
        ("--mpirun", wishes.mpirun),
        ("--mpicc", wishes.mpicc),
        ("--launcher", wishes.launcher),
        *(("--collective", name) for name in wishes.collectives),
        *(("--size", size) for size in wishes.sizes),
    )
    words += [word for option, value in pairs if value is not None for word in (option, value)]
    words += ["--oversubscribe"] if wishes.oversubscribe else []
    return words + ([] if wishes.verify else ["--no-verify"])


_OF_EVERY_COMMAND = ("output", "resume", "force", "dry_run", "json", "submit", "submit_options", "time", "verify")


_OPTIONS = {"collectives": "--collective", "sizes": "--size", "study": "STUDY"}


def _differing(wishes: Wishes, jobs: Kept) -> str:
    """Options given now that ask for something else than the jobs were begun with; "" where none does."""
    given = [
        _OPTIONS.get(field.name, "--" + field.name.replace("_", "-"))
        for field in fields(wishes)
        if field.name not in _OF_EVERY_COMMAND and getattr(wishes, field.name) not in (None, [], False)
    ]
    same = _words(wishes)[: -1 if not wishes.verify else None] == [w for w in jobs.words if w != "--no-verify"]
    counts = node_counts(wishes.nodes) in ([], [job.nodes for job in jobs.jobs])
    return "" if same and counts else ", ".join(given)


def _show(scheduler: Scheduler, jobs: Kept, directory: Path) -> int:
    for job in jobs.jobs:
        out().print(f"# {directory / job.folder / 'job.sh'}", markup=False, soft_wrap=True, highlight=False)
        script = scheduler.script(request(jobs, job, directory))
        out().print(script, markup=False, soft_wrap=True, highlight=False)
    return 0


def _say(line: str) -> None:
    err().print(line, markup=False, soft_wrap=True, highlight=False)


# -- what came of it -----------------------------------------------------------------------------------------------


def _tell(jobs: Kept, directory: Path, wishes: Wishes) -> int:
    """Says for which numbers of nodes the time did not suffice, and writes what all others came to."""
    measured: list[Path] = []
    short = False
    for job in jobs.jobs:
        folder = directory / job.folder
        came = progress(folder)
        if came.samples:
            measured.append(Outputs(folder).study)
        if not came.ended:
            short = True
            err().print(
                _(
                    "{nodes} nodes: not all is measured yet ({samples} samples; its job said: {path}). "
                    "The same command with --resume submits it again."
                ).format(nodes=job.nodes, samples=came.samples, path=folder / f"job-{job.id}.err"),
                style="yellow",
                markup=False,
                soft_wrap=True,
            )
    if not measured:
        raise UserError(
            _("{directory}: no job has measured anything; see the job-*.err there, in each nodes-N").format(
                directory=directory
            )
        )
    outcome = _merged(measured, directory, settled=not short)
    if wishes.json:
        print_json(outcome.as_dict())
    else:
        outcome.print(out())
    return UNDECIDED if short else 0


def _merged(paths: Sequence[Path], directory: Path, *, settled: bool) -> Outcome:
    files = Outputs(directory)
    with Store.open(merge(paths, files.study)) as store:
        # No proof is made here, on the login node; each job has made its own.
        return finish(store, stored_study(store), store.machine, Path(), files, settled=settled, verify=False)
