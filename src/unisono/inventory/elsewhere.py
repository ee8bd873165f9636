"""The machine of a job on whose nodes we are not: salloc leaves its shell on the login node."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Mapping
from typing import Any

from unisono.core.asking import ask
from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.inventory.hosts import expand_nodelist

_PATIENCE = 120.0
"""Seconds: the first import of Python from a file system that many share may take long."""


def first_node(environment: Mapping[str, str], here: str | None = None) -> str | None:
    """The job's first node where `here` (this host) is none of them; None outside a job of Slurm, and on a node."""
    if "SLURM_JOB_ID" not in environment or "SLURMD_NODENAME" in environment:
        return None
    nodes = expand_nodelist(environment.get("SLURM_JOB_NODELIST", ""))
    name = (here or platform.node()).partition(".")[0]
    return nodes[0] if nodes and name not in (node.partition(".")[0] for node in nodes) else None


def described_on(node: str, mpirun: str, mpicc: str | None) -> Any:
    """What `unisono doctor --json` prints there. Raises UserError where it cannot be asked."""
    words = ["srun", "--nodes=1", "--ntasks=1", "--overlap", "--mpi=none", f"--nodelist={node}"]
    doctor = [sys.executable, "-m", "unisono.cli", "doctor", "--json", "--mpirun", mpirun]
    answer = ask([*words, *doctor, *(["--mpicc", mpicc] if mpicc else [])], timeout=_PATIENCE)
    try:
        return json.loads(answer.out)
    except ValueError:
        said = (answer.error or answer.out).strip().splitlines() or [_("nothing")]
        raise UserError(
            _(
                "this host is not a node of the job, and srun could not describe the job's node {node} (it said: "
                "{said}); start on a node of the job, with srun --pty or in a batch script"
            ).format(node=node, said=said[-1][:300])
        ) from None
