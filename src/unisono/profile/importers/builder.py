"""Putting a profile together row by row, by names instead of indices."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.profile.recorded import (
    CELL,
    NO_FUNCTION,
    PAIR,
    ROOT,
    UNKNOWN,
    Cells,
    Comm,
    Frame,
    Origin,
    Path,
    Profile,
    blank,
)

ROWS_MOST = 10_000_000
"""1 GB of rows: a file that asks for more is damaged, or hostile, or must be reduced by the tool that wrote it."""


class Builder:
    """Functions, frames and paths are entered by what they are, and get their index once."""

    def __init__(self, where: str, ranks: int, comms: Sequence[Comm] = ()) -> None:
        self.where = where
        self.ranks = ranks
        self.comms = tuple(comms)
        self.notes: list[str] = []
        self._functions = {"": NO_FUNCTION}
        self._frames: dict[Frame, int] = {}
        self._paths: dict[tuple[int, int], int] = {}
        self._parts: list[Cells] = []
        self._rows = 0

    def function(self, name: str) -> int:
        return self._functions.setdefault(name, len(self._functions))

    def path(self, frame: Frame, parent: int = ROOT) -> int:
        """The path to `frame` called from `parent`; the same for the same two."""
        number = self._frames.setdefault(frame, len(self._frames))
        return self._paths.setdefault((parent, number), len(self._paths) + 1)

    def add(self, cells: Cells) -> None:
        """Rows with all their columns. Raises UserError when they become too many."""
        self._rows += len(cells)
        if self._rows > ROWS_MOST:
            raise UserError(
                _(
                    "{where}: holds more than {rows_most:,} (call path, rank) rows; reduce it with the tool it is of"
                ).format(where=self.where, rows_most=ROWS_MOST)
            )
        self._parts.append(cells)

    def add_sum(self, path: int, function: int, calls: int, time: float, **values: int) -> None:
        """A row that the source holds for all ranks together: every rank gets an equal part."""
        cells = blank(self.ranks)
        cells["path"], cells["function"], cells["rank"] = path, function, np.arange(self.ranks)
        cells["time"] = time / self.ranks
        cells["calls"] = UNKNOWN if calls == UNKNOWN else equal_parts(calls, self.ranks)
        for name, value in values.items():
            cells[name] = value
        self.add(cells)

    def build(self, origin: Origin, wall: npt.NDArray[np.float64]) -> Profile:
        return Profile(
            origin=dataclasses.replace(origin),
            functions=tuple(self._functions),
            frames=tuple(self._frames),
            paths=(Path(UNKNOWN, UNKNOWN), *(Path(*key) for key in self._paths)),
            comms=self.comms,
            phases=("",),
            cells=np.concatenate(self._parts) if self._parts else np.zeros(0, CELL),
            wall=wall,
            pairs=np.zeros(0, PAIR),
            notes=tuple(self.notes),
        )


def equal_parts(total: int, ranks: int) -> npt.NDArray[np.int64]:
    """`total` in whole parts that differ by at most one and add up to it."""
    parts = np.full(ranks, total // ranks, np.int64)
    parts[: total % ranks] += 1
    return parts
