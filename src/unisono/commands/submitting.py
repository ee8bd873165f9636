"""`unisono tune --submit`: a job for each number of nodes, followed to its end; what they measured becomes one study.

Nothing here is needed for the jobs to go on: whoever follows them may leave, or be killed, and come back with --resume.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from unisono.commands.console import err, out, print_json
from unisono.commands.finish import Outcome, finish
from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.study.begin import stored_study
from unisono.study.files import Outputs
from unisono.study.merge import merge
from unisono.study.store import Store
from unisono.study.wishes import Wishes
from unisono.submit import asked, kept
from unisono.submit.jobs import follow, progress, request, submitted
from unisono.submit.kept import Kept
from unisono.submit.scheduler import Scheduler

UNDECIDED = 3


def submit(wishes: Wishes) -> int:
    """Exit status 0 when all was measured, UNDECIDED when the time did not suffice for some; KeyboardInterrupt and
    UserError are left to the caller."""
    scheduler = asked.scheduler(wishes.submit or "")
    directory = wishes.output
    continued = wishes.resume and kept.place(directory).exists()
    jobs = asked.continued(wishes, scheduler) if continued else asked.begun(wishes, scheduler)
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
                    "{nodes} nodes: the measurement is not complete yet ({samples} samples; the output of its "
                    "job is in {path}). The same command with --resume submits it again."
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
