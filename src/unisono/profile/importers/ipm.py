"""IPM's banner, as it ends up in a job's output: versions 2.0 and 0.9. Sums over ranks, no sizes, no call paths."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from unisono.core.errors import UserError
from unisono.core.language import N_, _
from unisono.profile.importers.builder import Builder
from unisono.profile.importers.text import RANKS_MOST, count, damaged, is_text, number, read_lines
from unisono.profile.recorded import ROOT, UNKNOWN, Origin, Profile

_BEGIN = re.compile(r"##IPMv([\w.]+)#+\s*")
_COMMAND = re.compile(r"#\s*command\s*:\s*(.*?)\s*")
_TASKS = re.compile(r"mpi_tasks\s*:\s*([0-9]{1,9})\s+on\s+([0-9]{1,9})\s+nodes")
_CALL = re.compile(r"#\s+(MPI_\w+)\s+(\S+)\s+(\S+)(?:\s+\S+)+\s*")
_TOTAL = re.compile(r"#\s*(wallclock|mpi|MPI)\s*:?\s+(\S+)(?:\s+\S+){3}\s*")
_COLUMNS = re.compile(r"#\s+\[time\]\s+\[(count|calls)\].*")


NAME = "ipm"
LABEL = N_("IPM, imported from its report")
GIVEN_AS = N_("IPM's banner")
IN_DIRECTORY: tuple[str, ...] = ()


def recognises(path: Path, head: bytes) -> bool:
    """The banner may stand behind whatever the program printed."""
    return is_text(head) and any(_BEGIN.fullmatch(line.strip()) for line in read_lines(path))


def read(path: Path) -> Profile:
    """The profile in the first banner of a text. Raises UserError."""
    return _read(read_lines(path), str(path))


def _read(lines: Sequence[str], where: str) -> Profile:
    begin = next((at for at, line in enumerate(lines) if _BEGIN.fullmatch(line.strip())), UNKNOWN)
    if begin == UNKNOWN:
        raise UserError(_("{where}: has no banner of IPM (a line ##IPMv...)").format(where=where))
    banner = [line.strip() for line in lines[begin:]]
    ranks, nodes = _tasks(banner, where)
    wall, mpi = _totals(banner, where)
    calls = _calls(banner, begin, where)
    builder = Builder(where, ranks)
    builder.notes = [
        N_("IPM's banner holds times summed over ranks: every rank was given an equal part, ranks cannot be compared"),
        N_(
            "IPM's banner holds no call paths, message sizes, communicators or waiting; its XML file "
            "holds sizes and can be imported too"
        ),
        (N_("the run was on {count} node") if nodes == 1 else N_("the run was on {count} nodes")).format(count=nodes),
    ]
    if not calls:
        builder.notes.append(
            N_("the banner has no list of functions (IPM_REPORT=full writes it): one row is all of MPI")
        )
        calls = [("MPI_(not listed)", UNKNOWN, mpi)]
    for function, visits, time in calls:
        builder.add_sum(ROOT, builder.function(function), visits, time)
    builder.add_sum(ROOT, 0, ranks, max(0.0, wall - sum(time for _, _, time in calls)))
    command = next((match[1] for line in banner if (match := _COMMAND.fullmatch(line))), "")
    return builder.build(
        Origin(NAME, command=command.removesuffix("(completed)").rstrip(), summed=True), np.full(ranks, wall / ranks)
    )


def _tasks(banner: Sequence[str], where: str) -> tuple[int, int]:
    match = next((found for line in banner if (found := _TASKS.search(line))), None)
    if match is None or not 0 < int(match[1]) <= RANKS_MOST:
        raise UserError(
            _("{where}: its IPM banner does not say mpi_tasks : N on M nodes; it is damaged or truncated").format(
                where=where
            )
        )
    return int(match[1]), int(match[2])


def _totals(banner: Sequence[str], where: str) -> tuple[float, float]:
    """Seconds of the program and of MPI, summed over ranks. The first lines of each are those of the whole program."""
    found: dict[str, float] = {}
    for line in banner:
        match = _TOTAL.fullmatch(line)
        value = number(match[2]) if match else None
        if match and value is not None:
            found.setdefault(match[1].lower(), value)
    if "wallclock" not in found or "mpi" not in found:
        raise UserError(
            _("{where}: its IPM banner has no totals of wallclock and MPI; it is damaged or truncated").format(
                where=where
            )
        )
    return found["wallclock"], found["mpi"]


def _calls(banner: Sequence[str], begin: int, where: str) -> list[tuple[str, int, float]]:
    """(function, calls, seconds) of the first table, which is the whole program's; later ones are of regions."""
    at = next((at for at, line in enumerate(banner) if _COLUMNS.fullmatch(line)), UNKNOWN)
    if at == UNKNOWN:
        return []
    found = []
    for offset in range(at + 1, len(banner)):
        line = banner[offset]
        if not line.startswith("# ") or line.startswith("##"):
            break
        match = _CALL.fullmatch(line)
        if match is None:
            continue  # functions of other modules: I/O, CUDA
        time, visits = number(match[2]), count(match[3])
        if time is None or visits is None:
            raise damaged(where, begin + offset, line, _("a function, its time and its count were expected"))
        found.append((match[1], visits, time))
    return found
