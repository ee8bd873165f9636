"""A host that is no node of its job, with a stand-in for srun; tests/cluster/test_slurm.py has a real one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from unisono.core.errors import UserError
from unisono.inventory.elsewhere import described_on, first_node

JOB = {"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "n[0-1]"}


def test_only_a_host_outside_the_job_asks_another() -> None:
    assert first_node(JOB, "login.cluster") == "n0"
    assert first_node(JOB, "n1.cluster") is None
    assert first_node({**JOB, "SLURMD_NODENAME": "n1"}, "by-another-name") is None
    assert first_node({}, "login") is None
    assert first_node({"SLURM_JOB_ID": "7"}, "login") is None


def test_a_node_that_cannot_be_asked_is_one_clear_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "srun").write_text("#!/bin/sh\necho srun: error: Unable to create step >&2\nexit 1\n")
    (tmp_path / "srun").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(
        UserError, match=r"srun could not describe the job's node n0 .*Unable to create step.*srun --pty"
    ):
        described_on("n0", "/opt/mpirun", None)
