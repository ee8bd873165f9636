"""Which batch system the machine has, and whether we are inside one of its jobs."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from unisono.language import N_
from unisono.machine.model import Scheduler
from unisono.machine.tools import ask


@dataclass(frozen=True)
class _Kind:
    name: str
    command: str
    version: tuple[str, ...]
    job: str
    """Environment variable that only a job has."""


_KINDS = (
    _Kind("slurm", "sinfo", ("sinfo", "--version"), "SLURM_JOB_ID"),
    _Kind("flux", "flux", ("flux", "--version"), "FLUX_JOB_ID"),
    _Kind("lsf", "bsub", ("lsid", "-V"), "LSB_JOBID"),
    _Kind("pbs", "qsub", ("qstat", "--version"), "PBS_JOBID"),
)


def read_scheduler(environment: Mapping[str, str], which: Callable[[str], str | None] = shutil.which) -> Scheduler:
    """A job's own batch system first, then the first whose commands are installed; "none" otherwise."""
    inside = next((kind for kind in _KINDS if environment.get(kind.job)), None)
    kind = inside or next((kind for kind in _KINDS if which(kind.command)), None)
    if kind is None:
        return Scheduler(name="none", detail=N_("no batch system found; ranks start directly"))
    detail = (
        N_("inside job {environment}").format(environment=environment[kind.job])
        if inside
        else N_("{command} is installed, not inside a job").format(command=kind.command)
    )
    return Scheduler(name=kind.name, version=_version(kind, which), inside_job=inside is not None, detail=detail)


def _version(kind: _Kind, which: Callable[[str], str | None]) -> str | None:
    program = which(kind.version[0])
    if program is None:
        return None
    answer = ask([program, *kind.version[1:]], timeout=5.0)
    return parse_version(answer.out + answer.error) if answer.ok else None


def parse_version(text: str) -> str | None:
    """The first dotted number: "slurm 22.05.8", "pbs_version = 23.06.06", "commands: 0.60.0"."""
    match = re.search(r"\d+(?:\.\d+)+\S*", text, re.ASCII)
    return match[0].rstrip(",;") if match else None
