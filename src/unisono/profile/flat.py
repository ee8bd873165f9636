"""The flat table: where the time goes by group and by region, whoever called it (as `scalasca -examine` shows it)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from unisono.core.language import _
from unisono.profile.recorded import NO_FUNCTION, ROOT, UNKNOWN, Profile
from unisono.profile.tree import above_mpi

OUTSIDE_MPI = "(outside MPI)"
OWN = "USR+COM"
"""The group of a program's own time where it was not divided into regions."""


@dataclass(frozen=True, slots=True)
class FlatRow:
    """A group of regions, or one region."""

    group: str
    """"ALL", "MPI", "USR" (calls no MPI, directly or not), "COM" (does), or what Score-P calls it."""
    region: str
    """The group's own name in the row of a group."""
    visits: int
    """Calls on all ranks; UNKNOWN where the profile does not say."""
    time: float
    """Seconds, summed over ranks, exclusive."""
    share: float
    """Of the whole program's time, 0 to 1."""

    @property
    def words(self) -> str:
        """The region for people: a name of the program's is its own, what stands in place of one is ours."""
        return _("(outside MPI)") if self.region == OUTSIDE_MPI else self.region

    @property
    def per_visit(self) -> float:
        """Seconds; NaN where the visits are not known or none."""
        return self.time / self.visits if self.visits > 0 else math.nan


@dataclass(frozen=True, slots=True)
class FlatTable:
    """Both parts sorted by time, ALL first."""

    groups: tuple[FlatRow, ...]
    regions: tuple[FlatRow, ...]


def flat_table(profile: Profile) -> FlatTable:
    """Groups ALL/USR/MPI/COM (and others of Score-P's), then every region."""
    names, of_row = _regions(profile)
    cells = profile.cells
    time = np.bincount(of_row, cells["time"], len(names))
    counted = cells["calls"] >= 0
    visits = np.zeros(len(names), np.int64)
    np.add.at(visits, of_row[counted], cells["calls"][counted])
    unknown = np.bincount(of_row[~counted], minlength=len(names)) > 0
    total = float(time.sum())
    regions = [
        _row(group, region, UNKNOWN if unknown[n] else int(visits[n]), float(time[n]), total)
        for n, (group, region) in enumerate(names)
    ]
    groups = []
    for name in sorted({row.group for row in regions}):
        members = [row for row in regions if row.group == name]
        groups.append(_row(name, name, _visits(members), math.fsum(row.time for row in members), total))
    everything = _row("ALL", "ALL", _visits(regions), total, total)
    return FlatTable((everything, *_by_time(groups)), tuple(_by_time(regions)))


def _regions(profile: Profile) -> tuple[list[tuple[str, str]], np.ndarray[tuple[int], np.dtype[np.intp]]]:
    """(group, region) of every region, and for every row which it belongs to."""
    names: dict[tuple[str, str], int] = {}
    above = above_mpi(profile)
    com = {profile.frames[profile.paths[path].frame].label for path in np.flatnonzero(above) if path != ROOT}

    def own(path: int) -> tuple[str, str]:
        if path == ROOT:
            return OWN, OUTSIDE_MPI
        frame = profile.frames[profile.paths[path].frame]
        return frame.group or ("COM" if frame.label in com else "USR"), frame.label

    cells = profile.cells
    of_row = np.empty(len(cells), np.intp)
    is_own = cells["function"] == NO_FUNCTION
    for column, chosen in (("path", is_own), ("function", ~is_own)):
        values, inverse = np.unique(cells[column][chosen], return_inverse=True)
        keys = [own(int(value)) if column == "path" else ("MPI", profile.functions[value]) for value in values]
        numbers = np.array([names.setdefault(key, len(names)) for key in keys], np.intp)
        of_row[chosen] = numbers[inverse] if len(numbers) else 0
    return list(names), of_row


def _row(group: str, region: str, visits: int, time: float, total: float) -> FlatRow:
    return FlatRow(group, region, visits, time, time / total if total > 0 else 0.0)


def _visits(rows: list[FlatRow]) -> int:
    return UNKNOWN if any(row.visits == UNKNOWN for row in rows) else sum(row.visits for row in rows)


def _by_time(rows: list[FlatRow]) -> list[FlatRow]:
    return sorted(rows, key=lambda row: (-row.time, row.group, row.region))
