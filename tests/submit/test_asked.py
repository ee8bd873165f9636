"""Options become jobs, and stay the ones that the jobs were begun with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.submit.test_submitting import AGAIN, wishes
from unisono.core.errors import UserError
from unisono.submit import kept
from unisono.submit.asked import begun, continued, scheduler


def test_there_is_a_job_for_each_number_of_nodes_and_all_run_the_same_words(tmp_path: Path) -> None:
    asked = wishes(tmp_path, sizes=["1K", "1M"], oversubscribe=True, submit="pbs", submit_options="-q 'open queue'")
    jobs = begun(asked, scheduler("pbs"))
    assert (jobs.scheduler, jobs.seconds, jobs.options) == ("pbs", 3600.0, ["-q", "open queue"])
    assert [(job.nodes, job.id) for job in jobs.jobs] == [(2, ""), (4, "")]
    assert len({job.name.split("-")[1] for job in jobs.jobs}) == 1
    assert jobs.words == (
        [
            "quick",
            "--ppn",
            "2",
            "--collective",
            "allreduce",
            "--size",
            "1K",
            "--size",
            "1M",
            "--oversubscribe",
            "--no-verify",
        ]
    )


def test_continued_jobs_take_another_time_and_other_options_and_nothing_else(tmp_path: Path) -> None:
    slurm = scheduler("slurm")
    jobs = begun(wishes(tmp_path), slurm)
    kept.keep(tmp_path, jobs)
    assert continued(wishes(tmp_path, **AGAIN), slurm) == jobs
    more = continued(wishes(tmp_path, **{**AGAIN, "time": "2h", "submit_options": "-A mine"}), slurm)
    assert more == jobs.model_copy(update={"seconds": 7200.0, "options": ["-A", "mine"]})
    with pytest.raises(UserError, match="without --ppn"):
        continued(wishes(tmp_path, **{**AGAIN, "ppn": 3}), slurm)
    with pytest.raises(UserError, match="its jobs are of slurm"):
        continued(wishes(tmp_path, **AGAIN), scheduler("flux"))
