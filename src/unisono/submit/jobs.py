"""The jobs of a study: submitted, each for one number of nodes, followed to their end, and how far each one came."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from unisono.core.language import _
from unisono.core.writing import write
from unisono.study.data import ENDED
from unisono.study.files import Outputs
from unisono.study.rows import YES
from unisono.study.store import Store
from unisono.submit import kept
from unisono.submit.kept import Kept, KeptJob
from unisono.submit.scheduler import Request, Scheduler, Seen

_FIRST_LOOK, _LAST_LOOK = 1.0, 30.0
"""Seconds between two looks at the jobs, ever longer: squeue costs its daemon time that all users share."""
_HEAR_FROM_IT = 60.0
"""Seconds after which a running job's progress is shown again."""


def request(jobs: Kept, job: KeptJob, directory: Path) -> Request:
    # --resume also begins; the end of the job limits the budget from within.
    budget = [] if "--budget" in jobs.words else ["--budget", f"{jobs.seconds:.0f}s"]
    folder = str((directory / job.folder).resolve())
    tune = ["tune", *jobs.words, *budget, "--nodes", str(job.nodes), "--resume", "-o", folder]
    return Request(job.name, job.nodes, jobs.seconds, [sys.executable, "-m", "unisono.cli", *tune])


def submitted(scheduler: Scheduler, jobs: Kept, directory: Path, say: Callable[[str], None]) -> Kept:
    """Every number of nodes has a job, unless nothing is left to measure for it. `say` hears of each new one."""
    ids = [job.id for job in jobs.jobs if job.id]
    seen = scheduler.look(ids) if ids else {}
    for at, job in enumerate(jobs.jobs):
        if not job.id and kept.place(directory).exists():
            # Killed between the submission and its being kept: the name finds the job.
            found = scheduler.find(job.name)
            job = job.model_copy(update={"id": found or ""})
            seen = {**seen, **(scheduler.look([found]) if found else {})}
        if job.id and seen[job.id].state != "ended":
            jobs.jobs[at] = job
            continue
        if progress(directory / job.folder).ended:
            jobs.jobs[at] = job
            continue
        if job.id:
            front, number = job.name.rsplit("-", 1)
            job = KeptJob(nodes=job.nodes, name=f"{front}-{int(number) + 1}")
        jobs.jobs[at] = job
        kept.keep(directory, jobs)
        script = write(directory / job.folder / "job.sh", scheduler.script(request(jobs, job, directory)))
        jobs.jobs[at] = job.model_copy(update={"id": scheduler.submit(script, jobs.options)})
        kept.keep(directory, jobs)
        say(_("{nodes} nodes: submitted as job {id}").format(nodes=job.nodes, id=jobs.jobs[at].id))
    kept.keep(directory, jobs)
    return jobs


def follow(scheduler: Scheduler, jobs: Kept, directory: Path, say: Callable[[str], None]) -> None:
    """Until all jobs have ended; `say` hears what changes."""
    by_id = {job.id: job for job in jobs.jobs if job.id}
    before: dict[str, Seen] = {}
    told: dict[str, float] = {}
    pause = _FIRST_LOOK
    while True:
        seen = scheduler.look(list(by_id))
        for id, now in seen.items():
            changed = id not in before or (now.word, now.reason) != (before[id].word, before[id].reason)
            due = now.state == "running" and time.monotonic() - told.get(id, 0.0) > _HEAR_FROM_IT
            if changed or due:
                told[id] = time.monotonic()
                say(_state(by_id[id], now, directory))
        before = dict(seen)
        if all(now.state == "ended" for now in seen.values()):
            return
        time.sleep(pause)
        pause = min(pause * 1.5, _LAST_LOOK)


def _state(job: KeptJob, now: Seen, directory: Path) -> str:
    words = [now.word or _("ended")]
    if now.state == "waiting" and now.reason:
        words.append(now.reason)
    if now.state == "running":
        words.append(_("{left} left").format(left=now.left))
        words.append(_last_line(directory / job.folder / f"job-{job.id}.err"))
    return _("{nodes} nodes, job {id}: {state}").format(
        nodes=job.nodes, id=job.id, state=", ".join(word for word in words if word)
    )


def _last_line(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            stream.seek(max(0, path.stat().st_size - 4096))
            lines = stream.read().decode("utf-8", "replace").split("\n")
    except OSError:
        return ""
    return next((line.strip()[:160] for line in reversed(lines) if line.strip()), "")


@dataclass(frozen=True, slots=True)
class Progress:
    samples: int
    ended: bool


def progress(folder: Path) -> Progress:
    path = Outputs(folder).study
    if not path.exists():
        return Progress(0, False)
    with Store.open(path) as store:
        ended = store.value_or_none(ENDED, YES)
        return Progress(len(store.samples()), ended is True)
