"""The tables of an mpiP report. Columns are found by their names, since versions differ in which there are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.profile.importers.text import RANKS_MOST, count, damaged, number
from unisono.profile.recorded import UNKNOWN

AGGREGATE = -1
"""As a rank: the line of a site for all ranks, `*`."""
_TITLE = re.compile(r"@---\s+(.*?)\s+-*\s*")
_RULE = re.compile(r"-{20,}\s*")


@dataclass(frozen=True)
class Table:
    lines: tuple[str, ...]
    """Its rows, the line of column names included; no empty ones."""
    begin: int
    """Where it begins in the report, from 0."""


@dataclass(frozen=True, slots=True)
class SiteRow:
    """A line of one of the tables by call site. Times in seconds, sizes in bytes."""

    call: str
    site: int
    rank: int
    """AGGREGATE for all of them."""
    calls: int
    time: float
    """Of all the calls; 0 in a table of sizes."""
    most: float
    mean: float
    least: float
    exact: bool
    """Printed as whole numbers, not in rounded powers of ten."""


def sections(lines: Sequence[str]) -> dict[str, Table]:
    """Every table by its title."""
    found: dict[str, Table] = {}
    title, begin = "", 0
    rows: list[str] = []
    for at, line in enumerate([*lines, "@--- End ---"]):
        if line.startswith("@---"):
            if title:
                found.setdefault(title, Table(tuple(rows), begin))
            match = _TITLE.fullmatch(line)
            title, begin, rows = (match[1] if match else ""), at, []
        elif title and line.strip() and not _RULE.fullmatch(line):
            rows.append(line)
    return found


def tasks(table: Table, where: str) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """AppTime and MPITime of every rank in seconds. Raises UserError where ranks are missing."""
    found: dict[int, tuple[float, float]] = {}
    for line in table.lines[1:]:
        words = line.split()
        if words[:1] == ["*"]:
            continue
        rank = count(words[0])
        app, mpi = (number(words[1]), number(words[2])) if len(words) >= 3 else (None, None)
        if rank is None or app is None or mpi is None or rank >= RANKS_MOST:
            raise damaged(where, table.begin, line, _("a task, its AppTime and its MPITime were expected"))
        found[rank] = (app, mpi)
    if not found or sorted(found) != list(range(len(found))):
        raise UserError(
            _("{where}: its table of MPI Time (seconds) does not have every task; the report is damaged").format(
                where=where
            )
        )
    rows = np.array([found[rank] for rank in range(len(found))])
    return rows[:, 0], rows[:, 1]


def site_rows(table: Table, where: str) -> list[SiteRow]:
    """The rows of a table by call site, whichever columns it has. Raises UserError where one is not like its header."""
    if not table.lines:
        return []
    columns = table.lines[0].split()
    if columns[:2] not in (["Name", "Site"], ["Call", "Site"]):
        raise damaged(where, table.begin, table.lines[0], _("columns `Name Site` or `Call Site` were expected"))
    in_bytes = "Sum" in columns or "Sent%" in columns
    rows = []
    for line in table.lines[1:]:
        values = dict(zip(columns, line.split(), strict=False))
        row = _row(values, in_bytes) if len(line.split()) == len(columns) else None
        if row is None:
            raise damaged(
                where, table.begin, line, _("a row with {columns} was expected").format(columns=", ".join(columns))
            )
        rows.append(row)
    return rows


def _row(values: dict[str, str], in_bytes: bool) -> SiteRow | None:
    scale = 1.0 if in_bytes else 1e-3
    texts = [values.get(name, "0") for name in ("Max", "Mean", "Min")]
    if "Avrg" in values:
        texts[1] = values["Avrg"]
    most, mean, least = (number(text) for text in texts)
    site = count(values["Site"])
    rank = AGGREGATE if values.get("Rank", "*") == "*" else count(values["Rank"])
    calls = count(values["Count"]) if "Count" in values else UNKNOWN
    tasks_of_site = count(values["Tasks"]) if "Tasks" in values else 1
    total = number(values["Time"]) if "Time" in values else None
    if most is None or mean is None or least is None or site is None or rank is None or calls is None:
        return None
    if tasks_of_site is None or ("Time" in values and total is None) or ("Min" in values and least > most):
        return None
    if total is None:
        # concise tables hold a mean over ranks instead of one over calls
        total = mean * (tasks_of_site if "Tasks" in values else max(calls, 0))
    concise = "Tasks" in values or "Time" in values
    return SiteRow(
        call=values.get("Name", values.get("Call", "")),
        site=site,
        rank=rank,
        calls=calls,
        time=0.0 if in_bytes else total * scale,
        most=float("nan") if concise else most * scale,
        mean=mean * scale,
        least=float("nan") if concise else least * scale,
        exact=in_bytes and "Min" in values and not any(re.search("[eE.]", text) for text in texts[::2]),
    )
