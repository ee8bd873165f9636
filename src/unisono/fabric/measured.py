"""What was measured between nodes, and the file that keeps it."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.core.reading import MACHINE_MOST, read_text
from unisono.core.toml import key_words
from unisono.core.writing import write

FORMAT = "unisono-fabric"
Array = NDArray[np.float64]
Mode = Literal["alone", "together"]


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Launch(_Document):
    """One launch's figures, seconds: a row a pair [latency, its median, large message, its median], one way; a row a
    node [chunk of work, its median, the processor's own time]. Empty where not measured."""

    alone: list[tuple[float, float, float, float]] = []
    together: list[tuple[float, float, float, float]] = []
    compute: list[tuple[float, float, float]] = []


class Fabric(_Document):
    """Pairs of nodes, measured in several launches."""

    format: Literal["unisono-fabric"] = "unisono-fabric"
    version: Literal[1] = 1
    created: str
    machine: str
    mpi: str
    nodes: list[str]
    """Names, as each node says its own."""
    pairs: list[tuple[int, int]]
    """Numbers of nodes."""
    message: int
    """Bytes of a large message."""
    shared_processors: bool
    """The nodes are containers or namespaces of one machine."""
    launches: list[Launch]

    @model_validator(mode="after")
    def _fits(self) -> Fabric:
        count = len(self.nodes)
        if len(set(self.nodes)) < count or not all(0 <= a < count and 0 <= b < count and a != b for a, b in self.pairs):
            raise ValueError("nodes and pairs do not fit together")
        if self.message < 1:
            raise ValueError("message: less than a byte")
        for launch in self.launches:
            rows = [*launch.alone, *launch.together, *launch.compute]
            if any(len(found) not in (0, len(self.pairs)) for found in (launch.alone, launch.together)) or len(
                launch.compute
            ) not in (0, count):
                raise ValueError("a launch has not as many rows as there are pairs or nodes")
            if any(value <= 0 for row in rows for value in row):
                raise ValueError("a time is not above 0")
        return self

    def latency(self, mode: Mode) -> Array:
        """Seconds one way, launches x pairs; of launches that measured it."""
        return self._column(mode, 0)

    def large(self, mode: Mode) -> Array:
        """Seconds that `message` bytes take one way, launches x pairs."""
        return self._column(mode, 2)

    def compute(self) -> Array:
        """Seconds for a chunk of work, launches x nodes."""
        return np.array([[row[0] for row in launch.compute] for launch in self.launches if launch.compute])

    @property
    def mode(self) -> Mode:
        """What nodes are judged by: pairs alone, unless there were too many of them for that."""
        return "alone" if any(launch.alone for launch in self.launches) else "together"

    def _column(self, mode: Mode, number: int) -> Array:
        found = [launch.alone if mode == "alone" else launch.together for launch in self.launches]
        return np.array([[row[number] for row in rows] for rows in found if rows])


def save(fabric: Fabric, path: Path) -> Path:
    """Raises UserError where it cannot be written."""
    return write(path, fabric.model_dump_json() + "\n")


def load(path: Path) -> Fabric:
    """Raises UserError for a file that is none of ours."""
    try:
        return Fabric.model_validate_json(read_text(path, MACHINE_MOST))
    except ValidationError as error:
        first = error.errors()[0]
        where = key_words(first["loc"])
        said = f"{where}: {first['msg']}" if where else str(first["msg"])
        raise UserError(
            _("{path}: is no measured fabric: {said}; write one with: unisono doctor --fabric").format(
                path=path, said=said[:200]
            )
        ) from None
