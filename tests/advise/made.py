"""Profiles, studies and tunings of programs that never ran, small enough to check by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unisono.profile.recorded import (
    PAIR,
    UNKNOWN,
    Comm,
    Frame,
    Origin,
    Path,
    Profile,
    blank,
    is_nonblocking,
    is_persistent,
)

RANKS = 4


@dataclass(frozen=True)
class Call:
    """One function from one caller; times in seconds per rank."""

    function: str
    path: tuple[str, ...] = ("main",)
    """Outermost caller first."""
    size: int = 1024
    calls: int = 10
    time: float | Sequence[float] = 1.0
    """Of every rank, or rank by rank."""
    waiting: float = math.nan
    completion: float = math.nan
    """Waited for a nonblocking collective in other calls; of such a call, what of its time is that."""
    starts: int = 0
    """Of the requests of a persistent collective, those that were seen to complete."""
    comm: int = 0
    spread: int = 0
    """Sizes lie between size - spread and size + spread."""


def profile(
    calls: Sequence[Call],
    *,
    wall: float = 10.0,
    comms: tuple[Comm, ...] = (Comm(RANKS, 1),),
    hosts: tuple[str, ...] = ("here",) * RANKS,
    command: str = "mpirun -n 4 ./app",
) -> Profile:
    """A profile of four ranks that made these calls and nothing else; the rest of `wall` is the program's own."""
    functions = ["", *dict.fromkeys(call.function for call in calls)]
    frames: list[Frame] = []
    paths = [Path(UNKNOWN, UNKNOWN)]
    known: dict[tuple[str, ...], int] = {(): 0}
    for call in calls:
        for depth in range(1, len(call.path) + 1):
            chain = call.path[:depth]
            if chain not in known:
                frames.append(Frame(chain[-1]))
                paths.append(Path(known[chain[:-1]], len(frames) - 1))
                known[chain] = len(paths) - 1
    rows = blank(RANKS * (len(calls) + 1))
    rows["rank"] = np.tile(np.arange(RANKS), len(calls) + 1)
    for number, call in enumerate(calls):
        mine = rows[number * RANKS : (number + 1) * RANKS]
        mine["function"], mine["path"] = functions.index(call.function), known[call.path]
        mine["comm"], mine["calls"], mine["size"] = call.comm, call.calls, call.size
        mine["size_min"], mine["size_max"] = call.size - call.spread, call.size + call.spread
        mine["time"], mine["waiting"] = call.time, call.waiting
        mine["completion"] = call.completion
        followed = not math.isnan(call.completion)
        mine["completed"] = call.calls if is_nonblocking(call.function) and followed else UNKNOWN
        if is_persistent(call.function) and followed:
            mine["completed"] = call.starts
    rows["time"][-RANKS:] = wall - np.bincount(rows["rank"], rows["time"], RANKS)
    return Profile(
        origin=Origin("unisono", command, hosts=hosts, split_waiting=True),
        functions=tuple(functions),
        frames=tuple(frames),
        paths=tuple(paths),
        comms=comms,
        phases=("",),
        cells=rows,
        wall=np.full(RANKS, wall),
        pairs=np.zeros(0, PAIR),
    )
