"""`scorep.score`: the text that `scorep-score` and `scalasca -examine` print.

Times are sums over ranks; there are no call paths, bytes or communicators.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from unisono.core.errors import UserError
from unisono.core.language import N_, _
from unisono.profile.importers.builder import Builder
from unisono.profile.importers.text import RANKS_MOST, count, damaged, is_text, number, read_lines
from unisono.profile.recorded import ROOT, UNKNOWN, Frame, Origin, Profile

NOT_LISTED = "(regions not listed)"
SMALL = "(small regions)"
MPI_SMALL = "MPI_(small)"
_ROWS_MOST = 2_000_000
"""Regions x ranks that are kept one by one; beyond, as with 100,000 ranks, small regions are put together."""
MPI_NOT_LISTED = "MPI_(not listed)"
_HEADER_LINES = 3
_TIME = ("time[s]", "time")
_ONE_A_RANK = ("MPI_Init", "MPI_Init_thread", "MPI_Finalize")
_FILTERED = re.compile(r"(.+-)?FLT")


@dataclass(frozen=True, slots=True)
class _Row:
    group: str
    visits: int
    time: float
    region: str


NAME = "scorep.score"
LABEL = N_("Score-P, imported from its score table")
GIVEN_AS = "scorep.score"
IN_DIRECTORY: tuple[str, ...] = ("scorep.score",)


def recognises(path: Path, head: bytes) -> bool:
    return is_text(head) and _header(read_lines(path)) is not None


def read(path: Path) -> Profile:
    """The profile in a score text, each region a call path of one frame. Raises UserError."""
    return _read(read_lines(path), str(path))


def _read(lines: Sequence[str], where: str) -> Profile:
    header = _header(lines)
    if header is None:
        raise UserError(
            _("{where}: has no line of columns `flt type ... region`; it is not a scorep.score").format(where=where)
        )
    columns, begin = header
    groups, regions = _rows(lines, columns, begin, where)
    if not groups and not regions:
        raise UserError(_("{where}: has columns but no rows; the file is truncated").format(where=where))
    ranks = _ranks(regions, where)
    builder = Builder(where, ranks or 1)
    builder.notes = [
        N_("scorep.score holds times summed over ranks: every rank was given an equal part, ranks cannot be compared"),
        N_(
            "scorep.score holds no call paths, message sizes, communicators or waiting; "
            "profile.cubex of the same run does hold call paths and bytes"
        ),
        N_("the time is that of the whole program, MPI_Init and MPI_Finalize included"),
    ]
    if not ranks:
        builder.notes.append(N_("the number of ranks is not in it (no MPI_Init is listed): 1 was assumed"))
    rows = [*regions, *_remainders(groups, regions)]
    kept = _folded(rows, max(20, _ROWS_MOST // builder.ranks))
    if len(kept) < len(rows):
        builder.notes.append(
            N_("with {ranks} ranks all but the {kept} largest regions were put together").format(
                ranks=f"{ranks:,}", kept=f"{len(kept):,}"
            )
        )
    for row in kept:
        if row.group == "MPI":
            builder.add_sum(ROOT, builder.function(row.region), row.visits, row.time)
        else:
            builder.add_sum(builder.path(Frame(row.region, group=row.group)), 0, row.visits, row.time)
    total = groups["ALL"].time if "ALL" in groups else math.fsum(row.time for row in regions)
    return builder.build(Origin(NAME, summed=True), np.full(builder.ranks, total / builder.ranks))


def _header(lines: Sequence[str]) -> tuple[list[str], int] | None:
    """Names of the numeric columns and the first line after them; the header may go over several lines."""
    for at, line in enumerate(lines):
        tokens = line.split()
        if tokens[:2] != ["flt", "type"]:
            continue
        end = at + 1
        while "region" not in tokens and end < min(len(lines), at + _HEADER_LINES):
            tokens += lines[end].split()
            end += 1
        if end < len(lines) and lines[end].split() == ["visit[us]"]:
            end += 1  # the lower half of "time/visit[us]"
        names = [name for name in tokens[2:] if name not in ("region", "visit[us]")]
        if "region" in tokens and any(name in names for name in _TIME):
            return names, end
    return None


def _rows(lines: Sequence[str], columns: Sequence[str], begin: int, where: str) -> tuple[dict[str, _Row], list[_Row]]:
    """Groups by name (whole, not as filtered), and regions."""
    pattern = re.compile(r"\s*(?:([-+*])\s+)?([A-Z][A-Z0-9_-]*)\s+" + r"(\S+)\s+" * len(columns) + r"(\S.*?)\s*")
    time_at = next(at for at, name in enumerate(columns) if name in _TIME)
    visits_at = columns.index("visits") if "visits" in columns else UNKNOWN
    groups: dict[str, _Row] = {}
    regions: list[_Row] = []
    for at in range(begin, len(lines)):
        line = lines[at]
        if not line.strip():
            continue
        match = pattern.fullmatch(line)
        numbers = [number(text) for text in match.groups()[2:-1]] if match else []
        if match is None or None in numbers:
            if line.lstrip().startswith(("(hint", "Estimated", "$")):
                continue
            raise damaged(where, at, line, _("a row of the score table was expected"))
        group, region = str(match[2]), str(match.groups()[-1])
        visits = count(match.groups()[2 + visits_at]) if visits_at != UNKNOWN else UNKNOWN
        if visits is None:
            raise damaged(where, at, line, _("a whole number of visits was expected"))
        row = _Row(group, visits, float(numbers[time_at] or 0.0), region)
        if _FILTERED.fullmatch(group):
            continue  # what a filter would leave: the regions are listed whole
        if region == group or group == "ALL":
            groups.setdefault(group, row)
        else:
            regions.append(row)
    return groups, regions


def _ranks(regions: Sequence[_Row], where: str) -> int:
    """As many as called MPI_Init; 0 where none is listed."""
    for name in _ONE_A_RANK:
        for row in regions:
            if row.region == name and row.visits > 0:
                if row.visits > RANKS_MOST:
                    raise UserError(
                        _("{where}: {visits:,} calls of {name} cannot be that many ranks").format(
                            where=where, visits=row.visits, name=name
                        )
                    )
                return row.visits
    return 0


def _folded(rows: Sequence[_Row], most: int) -> list[_Row]:
    """The `most` rows with the most time; the others of each group in one."""
    if len(rows) <= most:
        return list(rows)
    ordered = sorted(rows, key=lambda row: -row.time)
    kept, small = ordered[:most], ordered[most:]
    for group in sorted({row.group for row in small}):
        members = [row for row in small if row.group == group]
        known = all(row.visits != UNKNOWN for row in members)
        visits = sum(row.visits for row in members) if known else UNKNOWN
        region = MPI_SMALL if group == "MPI" else SMALL
        kept.append(_Row(group, visits, math.fsum(row.time for row in members), region))
    return kept


def _remainders(groups: dict[str, _Row], regions: Sequence[_Row]) -> list[_Row]:
    """What a group has beyond its listed regions: the list may have been cut (`head -n 35`)."""
    rest = []
    for name, whole in groups.items():
        if name == "ALL":
            continue
        listed = [row for row in regions if row.group == name]
        time = whole.time - math.fsum(row.time for row in listed)
        known = whole.visits != UNKNOWN and all(row.visits != UNKNOWN for row in listed)
        visits = max(0, whole.visits - sum(row.visits for row in listed)) if known else UNKNOWN
        rounding = 0.005 * (len(listed) + 1)  # times have two decimals
        if time > rounding or visits > 0:
            region = MPI_NOT_LISTED if name == "MPI" else name if not listed else NOT_LISTED
            rest.append(_Row(name, visits, max(0.0, time), region))
    return rest
