"""The probe program (native/probe): built, started, and what it said as types."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unisono.core import asking
from unisono.core.cache import cache
from unisono.core.errors import LaunchError, UserError
from unisono.core.language import N_, _
from unisono.launch import tree
from unisono.launch.failure import explain
from unisono.launch.process import Finished, run
from unisono.library.native import native_source
from unisono.machine.description import Machine
from unisono.mpi import compiler_environment

_MARK = "@P "
_OF_UCX = re.compile(r"\[\d+\.\d+\] \[[^]\n]*\] +\S+:\d+ +UCX +[A-Z]+ [^\n]*\n")
"""A line that UCX has printed. MPICH 4.0's launcher may put one of another rank, still in MPI_Init, amid an answer."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """An MCA parameter as MPI_T reads it inside a launch; not `known`: this Open MPI has none of that name."""

    known: bool
    value: str = ""
    label: str = ""
    """The enumerator's name of the value, where it has one."""


@dataclass(frozen=True, slots=True)
class UcxVariable:
    """A variable in UCX's report of its configuration: as it is, and as it would be with the wanted value."""

    loaded: bool
    known: bool
    used: str = ""
    wanted: str = ""


@dataclass(frozen=True, slots=True)
class Answers:
    ranks: int
    parameters: Mapping[str, Parameter]
    ucx: Mapping[str, UcxVariable]
    failed: Mapping[tuple[str, int, int], bool]
    """(collective, bytes, ranks of the communicator) -> whether the call returned an error."""
    where: Sequence[Mapping[str, Any]]
    """Per rank: rank, host, node (index in order of first rank) and cpus, as placement.check reads them."""
    output: str
    """All it wrote, both streams: what libraries said."""


@dataclass
class _Found:
    ranks: int = 0
    done: bool = False
    parameters: dict[str, Parameter] = field(default_factory=dict)
    ucx: dict[str, UcxVariable] = field(default_factory=dict)
    failed: dict[tuple[str, int, int], bool] = field(default_factory=dict)
    where: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Until:
    """What a launch answered until it ended, well or not."""

    begun: bool
    """Whether MPI_Init returned on any rank."""
    calls: frozenset[tuple[str, int, int]]
    """(collective, bytes, ranks) of those that were answered without an error."""
    finished: Finished


def ask(argv: Sequence[str], env: Mapping[str, str], deadline: float) -> Answers:
    """Run the probe to its end. Raises LaunchError as launches do, "protocol" when it ended without its last line."""
    finished = run(argv, env, deadline)
    found = _parse(finished.stdout)
    if finished.exit_code != 0 or not found.done:
        if finished.exit_code == 0:
            raise LaunchError("protocol", N_("the probe ended without its last line"))
        raise explain(finished.exit_code, finished.stderr)
    hosts = list(dict.fromkeys(where["host"] for where in sorted(found.where, key=lambda where: where["rank"])))
    return Answers(
        ranks=found.ranks,
        parameters=found.parameters,
        ucx=found.ucx,
        failed=found.failed,
        where=[{**where, "node": hosts.index(where["host"])} for where in found.where],
        output=finished.stdout + finished.stderr,
    )


def answered(argv: Sequence[str], env: Mapping[str, str], deadline: float, begun: Path | None = None) -> Until:
    """Run the probe until it ends, well or not. `begun`: the file that its question of that name names; the shared
    memory listed there, which a program that its MPI ends leaves behind, is removed where it is this host's."""
    finished = run(argv, env, deadline)
    calls = frozenset(call for call, failed in _parse(finished.stdout).failed.items() if not failed)
    try:
        listed = [line.split(" ", 1) for line in begun.read_text().splitlines()] if begun else []
    except OSError:
        return Until(False, calls, finished)
    # The inode tells it from another host's of that name.
    tree.remove([(path, int(inode)) for inode, path in listed])
    return Until(True, calls, finished)


def _parse(stdout: str) -> _Found:
    found = _Found()
    for line in _OF_UCX.sub("", stdout).splitlines():
        _, mark, text = line.partition(_MARK)
        if not mark:
            continue
        try:
            answer = json.loads(text)
        except ValueError as error:
            raise LaunchError(
                "protocol", N_("the probe said {line!r}: {error}").format(line=line, error=error)
            ) from error
        _take(answer, found)
    return found


def _take(answer: Mapping[str, Any], found: _Found) -> None:
    if "cvar" in answer:
        values = {name: answer[name] for name in ("known", "value", "label") if name in answer}
        found.parameters[answer["cvar"]] = Parameter(**values)
    elif "ucx" in answer:
        values = {name: answer[name] for name in ("loaded", "known", "used", "wanted") if name in answer}
        found.ucx[answer["ucx"]] = UcxVariable(**values)
    elif "call" in answer:
        found.failed[answer["call"], answer["bytes"], answer["ranks"]] = answer["failed"]
    elif "rank" in answer:
        found.where.append(dict(answer))
    elif "ranks" in answer:
        found.ranks = answer["ranks"]
    elif "done" in answer:
        found.done = True


def probe_program(machine: Machine) -> Path:
    """The probe, compiled by the machine's mpicc on first use and kept beside the benchmark's cache.

    Raises UserError without an mpicc, or with the compiler's last line when it fails.
    """
    mpicc = machine.mpi.mpicc if machine.mpi else None
    compiler = shutil.which(mpicc) if mpicc else None
    if compiler is None:
        raise UserError(_("checking needs this MPI's mpicc for a small probe program; name one with --mpicc"))
    folder = cache() / f"probe-{_key(compiler)}"
    program = folder / "unisono-probe"
    if program.exists():
        return program
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="build-", dir=folder) as build:
            made = Path(build) / program.name
            env = {**os.environ, **compiler_environment(compiler)}
            words = [compiler, "-std=c11", "-O1", *map(str, sources("*.c")), "-o", str(made), "-ldl"]
            done = subprocess.run(
                words, capture_output=True, text=True, errors="replace", timeout=120, check=False, env=env
            )
            if done.returncode != 0:
                last = (
                    done.stderr.strip().splitlines()
                    or [_("exit status {returncode}").format(returncode=done.returncode)]
                )[-1]
                raise UserError(
                    _("{compiler} could not build the probe program: {last}").format(compiler=compiler, last=last)
                )
            made.replace(program)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UserError(
            _("{folder}: cannot build the probe program: {error}").format(folder=folder, error=error)
        ) from error
    return program


def sources(pattern: str) -> list[Path]:
    """The probe's files with such names."""
    return sorted((native_source() / "probe").glob(pattern))


def _key(compiler: str) -> str:
    shown = asking.ask([compiler, "-show"], timeout=60.0).out
    stat = Path(compiler).stat()
    text = "\0".join(
        [*(path.read_text() for path in sources("*.[ch]")), compiler, str(stat.st_size), str(stat.st_mtime_ns), shown]
    )
    return hashlib.sha256(text.encode()).hexdigest()[:20]
