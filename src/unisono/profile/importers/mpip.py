"""mpiP's report, verbose or concise, versions 2.8 to 3.5: call sites, time per rank, sizes as mpiP counts them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from unisono.core.errors import UserError
from unisono.core.language import N_, _
from unisono.profile.importers.builder import Builder, equal_parts
from unisono.profile.importers.mpip_tables import AGGREGATE, SiteRow, Table, sections, site_rows, tasks
from unisono.profile.importers.text import RANKS_MOST, read_lines
from unisono.profile.recorded import ROOT, UNKNOWN, Comm, Frame, Origin, Profile, blank, collective_of

_ASSIGNMENT = re.compile(r"@ MPI Task Assignment\s*:\s*([0-9]{1,9})\s+(\S+)")
_INTRO = re.compile(r"@ (Command|Version|Start time)\s*:\s*(.*?)\s*")
_SITE = re.compile(r"\s*([0-9]{1,9})\s+([0-9]{1,9})\s+(\S+)\s+(.*?)\s*")
_UNKNOWN_NAME = "[unknown]"


@dataclass
class _Site:
    """A call site: the frames, innermost first, and the function called ("Allreduce")."""

    frames: list[Frame] = field(default_factory=list)
    call: str = ""


NAME = "mpip"
LABEL = N_("mpiP, imported from its report")
GIVEN_AS = N_("an mpiP report")
IN_DIRECTORY: tuple[str, ...] = ()


def recognises(path: Path, head: bytes) -> bool:
    return any(line.rstrip() == b"@ mpiP" for line in head.splitlines()[:50])


def read(path: Path) -> Profile:
    """The profile in an mpiP report. Raises UserError."""
    return _read(read_lines(path), str(path))


def _read(lines: Sequence[str], where: str) -> Profile:
    tables = sections(lines)
    hosts = {match[1]: match[2] for line in lines if (match := _ASSIGNMENT.match(line))}
    intro = {match[1]: match[2] for line in lines if (match := _INTRO.fullmatch(line.rstrip()))}
    app, mpi, noted = _wall(tables, len(hosts), where)
    ranks = len(app)
    nodes = len(set(hosts.values())) if len(hosts) == ranks else UNKNOWN
    builder = Builder(where, ranks, [Comm(ranks, nodes)])
    builder.notes = [
        N_("mpiP prints times and sizes with three or four digits: totals can be off by half a per cent"),
        N_("mpiP does not hold communicators: MPI_COMM_WORLD was assumed for collectives"),
        *noted,
    ]
    times, summed = _times(tables, where)
    sizes = {(row.site, row.call, row.rank): row for row in _sizes(tables, where)}
    sites = _sites(tables)
    for (number, call), rows in _by_site(times).items():
        _add_site(builder, sites.get(number, _Site()), number, call, rows, sizes)
    if summed:
        builder.notes.append(summed)
    own = blank(ranks)
    own["rank"], own["time"], own["calls"] = np.arange(ranks), np.maximum(0.0, app - mpi), 1
    builder.add(own)
    order = sorted(hosts, key=int)
    return builder.build(
        Origin(
            NAME,
            command=intro.get("Command", ""),
            created=_iso(intro.get("Start time", "")),
            mpi="",
            hosts=tuple(hosts[rank] for rank in order) if len(hosts) == ranks else (),
            depth=max((len(site.frames) for site in sites.values()), default=0),
            summed=bool(summed),
        ),
        app,
    )


def _wall(
    tables: dict[str, Table], assigned: int, where: str
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], list[str]]:
    """Seconds of the program and of MPI per rank, and what had to be assumed."""
    for title, table in tables.items():
        if title.startswith("MPI Time (seconds)"):
            app, mpi = tasks(table, where)
            return app, mpi, []
        if title.startswith("Task Time Statistics (seconds)"):
            whole = next((line.split() for line in table.lines if line.startswith("Aggregate")), [])
            if len(whole) < 3 or not assigned:
                break
            try:
                app_time, mpi_time = float(whole[1]), float(whole[2])
            except ValueError:
                break
            if not (0 <= app_time < math.inf and 0 <= mpi_time < math.inf):
                break
            ranks = min(assigned, RANKS_MOST)
            note = N_(
                "the concise report holds the program's time summed over ranks: every rank was given an equal part"
            )
            return np.full(ranks, app_time / ranks), np.full(ranks, mpi_time / ranks), [note]
    raise UserError(
        _("{where}: has no complete table of MPI Time (seconds); the mpiP report is truncated").format(where=where)
    )


def _times(tables: dict[str, Table], where: str) -> tuple[list[SiteRow], str]:
    """Time per site and rank, from the most detailed table there is; and a note where ranks cannot be compared."""
    for title, table in tables.items():
        if title.startswith("Callsite Time statistics (all, milliseconds)"):
            return site_rows(table, where), ""
    for title, table in tables.items():
        if title.startswith("Callsite Time statistics (all callsites, milliseconds)"):
            return site_rows(table, where), (
                N_(
                    "the concise report holds time per call site summed over ranks: every rank was given an "
                    "equal part; it holds no calls"
                )
            )
    for title, table in tables.items():
        if title.startswith("Aggregate Time"):
            return site_rows(table, where), (
                N_(
                    "only the twenty call sites with the most time are in this report, summed over ranks: "
                    "every rank was given an equal part (mpiP writes all of them without -d)"
                )
            )
    return [], N_("no table of call sites is in this report: it is truncated, or the program called no MPI")


def _sizes(tables: dict[str, Table], where: str) -> list[SiteRow]:
    for title, table in tables.items():
        if title.startswith("Callsite Message Sent statistics (all, sent bytes)"):
            return site_rows(table, where)
    for title, table in tables.items():
        if title.startswith("Aggregate Sent Message Size"):
            return site_rows(table, where)
    return []


def _sites(tables: dict[str, Table]) -> dict[int, _Site]:
    found: dict[int, _Site] = {}
    for title, table in tables.items():
        if not title.startswith("Callsites"):
            continue
        for line in table.lines:
            match = _SITE.fullmatch(line)
            if match is None:
                continue  # the line of column names
            site = found.setdefault(int(match[1]), _Site())
            rest = str(match[4])
            if int(match[2]) == 0:
                words = rest.rsplit(None, 1)
                site.call = words[-1] if words else ""
                rest = words[0] if len(words) == 2 else ""
            site.frames.append(_frame(str(match[3]), rest))
    return found


def _frame(file: str, rest: str) -> Frame:
    """Of "solve.c", "120 transpose", or of an address and "[unknown]"."""
    if file.startswith("0x"):
        return Frame("" if rest in ("", _UNKNOWN_NAME) else rest)
    line, _, function = rest.partition(" ")
    number = int(line) if re.fullmatch("[0-9]{1,8}", line) else 0
    name = function.strip()
    return Frame("" if name == _UNKNOWN_NAME else name, file="" if file == _UNKNOWN_NAME else file, line=number)


def _by_site(rows: Sequence[SiteRow]) -> dict[tuple[int, str], list[SiteRow]]:
    found: dict[tuple[int, str], list[SiteRow]] = {}
    for row in rows:
        found.setdefault((row.site, row.call), []).append(row)
    return found


def _add_site(
    builder: Builder,
    site: _Site,
    number: int,
    call: str,
    rows: Sequence[SiteRow],
    sizes: dict[tuple[int, str, int], SiteRow],
) -> None:
    """One row a rank. What ranks below mpiP's print threshold spent is given to them in equal parts."""
    function = f"MPI_{call}"
    path = ROOT
    for frame in reversed(site.frames):
        path = builder.path(frame, path)
    whole = next((row for row in rows if row.rank == AGGREGATE), None)
    listed = [row for row in rows if 0 <= row.rank < builder.ranks]
    cells = blank(builder.ranks)
    cells["path"], cells["function"], cells["rank"] = path, builder.function(function), np.arange(builder.ranks)
    cells["comm"] = 0 if collective_of(function) else UNKNOWN
    for row in listed:
        cell = cells[row.rank]
        cell["time"], cell["calls"] = row.time, row.calls
        cell["time_min"], cell["time_max"] = row.least, row.most
        _size(cell, sizes.get((number, call, row.rank)), function, builder.ranks)
    hidden = sorted(set(range(builder.ranks)) - {row.rank for row in listed})
    if whole is None or not hidden:
        builder.add(cells[[row.rank for row in listed]])
        return
    rest = whole.time - math.fsum(row.time for row in listed)
    calls = UNKNOWN if whole.calls == UNKNOWN else max(0, whole.calls - sum(row.calls for row in listed))
    if calls == 0 or (calls == UNKNOWN and rest <= 0.01 * whole.time):  # ranks that never came here; or rounding
        builder.add(cells[[row.rank for row in listed]])
        return
    cells["time"][hidden] = max(0.0, rest) / len(hidden)
    cells["calls"][hidden] = UNKNOWN if calls == UNKNOWN else equal_parts(calls, len(hidden))
    for rank in hidden:
        _size(cells[rank], sizes.get((number, call, AGGREGATE)), function, builder.ranks)
    builder.add(cells)


def _size(cell: np.void, row: SiteRow | None, function: str, ranks: int) -> None:
    """mpiP counts bytes as the call's own count argument does: per pair for alltoall, gather and the like."""
    if row is None or row.calls <= 0:
        if function == "MPI_Barrier":
            cell["size"] = cell["size_min"] = cell["size_max"] = 0
        return
    if collective_of(function) == "alltoallv":
        cell["size"] = round(row.mean / ranks)  # mpiP adds the counts up
        return
    cell["size"] = round(row.mean)
    if row.exact:
        cell["size_min"], cell["size_max"] = round(row.least), round(row.most)
        cell["size"] = min(max(cell["size"], cell["size_min"]), cell["size_max"])
    if collective_of(function) is None:
        cell["sent"] = round(row.mean * row.calls)


def _iso(text: str) -> str:
    """ "2020 10 20 18:25:41" -> "2020-10-20T18:25:41"; local time of the machine, so without a zone."""
    match = re.fullmatch(r"(\d{4}) (\d\d) (\d\d) (\d\d:\d\d:\d\d)", text)
    return f"{match[1]}-{match[2]}-{match[3]}T{match[4]}" if match else ""
