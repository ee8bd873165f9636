"""From the options of `unisono tune --submit` to jobs: begun with them, or continued."""

from __future__ import annotations

import secrets
import shlex
from dataclasses import fields
from pathlib import Path

from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.mpi.launchers import step
from unisono.study.asked import find
from unisono.study.config import parse_duration
from unisono.study.wishes import Wishes, node_counts
from unisono.submit import kept
from unisono.submit.flux import Flux
from unisono.submit.kept import Kept, KeptJob
from unisono.submit.pbs import Pbs
from unisono.submit.scheduler import Scheduler
from unisono.submit.slurm import Slurm

SCHEDULERS: dict[str, Scheduler] = {"slurm": Slurm(), "pbs": Pbs(), "flux": Flux()}
_SHORTEST = 120.0
"""Seconds; less leaves no time to measure in."""


def scheduler(name: str) -> Scheduler:
    """Raises UserError where there is none of that name."""
    if name not in SCHEDULERS:
        raise UserError(
            _("--submit {name}: is not known; known are {known}").format(name=name[:80], known=", ".join(SCHEDULERS))
        )
    return SCHEDULERS[name]


def begun(wishes: Wishes, scheduler: Scheduler) -> Kept:
    """Jobs that have yet to be submitted. Raises UserError for what cannot be meant."""
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


def continued(wishes: Wishes, scheduler: Scheduler) -> Kept:
    """The jobs kept in the output directory, with another time or other options where these are given now. Raises
    UserError where anything else differs."""
    path = kept.place(wishes.output)
    jobs = kept.read(wishes.output)
    if said := _differing(wishes, jobs):
        raise UserError(
            _(
                "{path}: its jobs were submitted with other options; continue them without {said}, or choose "
                "another -o DIR"
            ).format(path=path, said=said)
        )
    if jobs.scheduler != scheduler.name:
        raise UserError(
            _("{path}: its jobs are of {scheduler}: continue them with --submit {scheduler}").format(
                path=path, scheduler=jobs.scheduler
            )
        )
    if wishes.time is not None:
        jobs = jobs.model_copy(update={"seconds": _seconds(wishes.time)})
    if wishes.submit_options is not None:
        jobs = jobs.model_copy(update={"options": _options(wishes.submit_options)})
    return jobs


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
