"""Which batch system the machine has, and whether we are inside one of its jobs."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from unisono.core.asking import ask
from unisono.core.language import N_
from unisono.inventory.hosts import in_flux_batch
from unisono.machine.description import Scheduler


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
    _Kind("flux", "flux", ("flux", "--version"), "FLUX_ENCLOSING_ID"),
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


def seconds_left(environment: Mapping[str, str], now: float | None = None) -> float | None:
    """Until the job that we are in ends; None outside a job, and where its batch system does not say."""
    id = environment.get("SLURM_JOB_ID", "")
    if not id.isdecimal():
        return _left_of_flux() if in_flux_batch(environment) else _left_of_pbs(environment.get("PBS_JOBID", ""))
    end = environment.get("SLURM_JOB_END_TIME", "")
    if end.isdecimal():  # Slurm 23.02 and later
        return max(0.0, float(end) - (time.time() if now is None else now))
    answer = ask(["squeue", "--noheader", f"--jobs={id}", "--format=%L"], timeout=10.0)
    return parse_left(answer.out) if answer.ok else None


def _left_of_flux() -> float | None:
    """Whole seconds; what has no limit has 2**32 - 1 of them, or more."""
    answer = ask(["flux", "job", "timeleft"], timeout=10.0)
    match = re.fullmatch(r"[0-9]+", answer.out.strip()) if answer.ok else None
    return float(match[0]) if match and int(match[0]) < 2**32 - 1 else None


def _left_of_pbs(id: str) -> float | None:
    """By `qstat -f`, of PBS Professional and of Torque: what was asked for less what was used."""
    if not re.fullmatch(r"\d+(\[\d*\])?(\.[\w.-]+)?", id, re.ASCII):
        return None
    answer = ask(["qstat", "-f", id], timeout=10.0)
    found = dict(re.findall(r"^\s*(Resource_List|resources_used)\.walltime = (\S+)$", answer.out, re.MULTILINE))
    asked = parse_left(found.get("Resource_List", ""))
    return None if asked is None else max(0.0, asked - (parse_left(found.get("resources_used", "")) or 0.0))


def parse_left(text: str) -> float | None:
    """Seconds of Slurm's "1-02:03:04", "02:03:04" or "3:04", PBS's "36:00:00"; None for what is no time (UNLIMITED)."""
    match = re.fullmatch(r"(?:(?:(\d{1,6})-)?(\d{1,6}):)?(\d{1,6}):(\d{1,6})", text.strip(), re.ASCII)
    if match is None:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return float(((days * 24 + hours) * 60 + minutes) * 60 + seconds)


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
