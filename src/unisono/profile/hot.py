"""Hot spots: the calls of MPI that take the most time, one row per (function, call path, communicator, phase)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unisono.profile.completion import with_waits
from unisono.profile.late import LateMessages, late_of
from unisono.profile.recorded import UNKNOWN, Cells, Comm, Frame, Profile, collective_of, measured_as
from unisono.profile.sizes import SizeBin, size_bins

BLOCKS = 256
_NOTHING = 1e-3
"""Of a call that completes requests: if no more is left of its time than this part of what it took for nonblocking
collectives, it is no hot spot of its own."""


@dataclass(frozen=True, slots=True)
class Spread:
    """A quantity over the ranks that made the call."""

    least: float
    mean: float
    most: float
    rank: int
    """The first one that has the most; UNKNOWN where ranks cannot be told apart."""

    @property
    def imbalance(self) -> float:
        """How far the most is above the mean, as a part of the mean: 0 is perfect balance."""
        return self.most / self.mean - 1 if self.mean > 0 else 0.0


@dataclass(frozen=True, slots=True)
class HotSpot:
    """All calls of one function from one call path on communicators of one shape, in one phase."""

    function: str
    """ "MPI_Alltoall"."""
    path: int
    """Index into the profile's paths."""
    frames: tuple[Frame, ...]
    """The call path, innermost (the caller of MPI) first; () where it is not known."""
    comm: Comm | None
    """None: the function has none, or the profile does not say."""
    phase: str
    ranks: int
    """How many ranks made the call."""
    visits: int
    """Calls on all ranks."""
    calls: Spread
    """Calls per rank."""
    seconds: Spread
    """Time per rank in seconds."""
    time: float
    """Seconds, summed over ranks: of a nonblocking or persistent collective with its starts and the wait for it, which
    are not in the time of calls that start or complete it."""
    share: float
    """Of the whole program's time, 0 to 1."""
    waiting: float
    """Seconds of `time` until the last rank had arrived; NaN where it was not measured."""
    sent: int
    """Bytes of all ranks by Score-P's convention, or UNKNOWN."""
    received: int
    sizes: tuple[SizeBin, ...]
    """The histogram of message sizes, the most time first."""
    fastest: float
    """Seconds of the shortest single call on any rank; NaN where not known."""
    waits: tuple[float, ...] = ()
    """Seconds that each rank of MPI_COMM_WORLD waits in a call for the last, on average; neighbours of many ranks
    together, so that there are BLOCKS at most. () where not measured, or where some ranks do not take part."""
    late: LateMessages | None = None
    """Of a call that waits for point-to-point messages: whom it waited for; None where waiting was not asked for."""
    completion: float = math.nan
    """Of a nonblocking or persistent collective, the part of `time` that is in calls that start or complete it; of such
    a call the seconds that it took for nonblocking collectives, which are not in its own `time`. NaN: not measured."""
    completed: int = UNKNOWN
    """Of a nonblocking collective's `visits`, those that were seen to complete; of a persistent one so many starts of
    the requests that were made; or UNKNOWN."""

    @property
    def called(self) -> float:
        """Of a nonblocking collective, seconds in the call itself."""
        return self.time if math.isnan(self.completion) else max(0.0, self.time - self.completion)

    @property
    def measured(self) -> str | None:
        """The name by which a study measures it: "alltoall", "ialltoall", "alltoall_init"."""
        return measured_as(self.function)

    @property
    def collective(self) -> str | None:
        return collective_of(self.function)

    @property
    def waiting_share(self) -> float:
        """Of this hot spot's own time; NaN where it was not measured."""
        return self.waiting / self.time if self.time > 0 else math.nan

    @property
    def name(self) -> str:
        """ "alltoall", "ialltoall" for a collective, else the function."""
        return self.measured or self.collective or self.function


@dataclass(frozen=True, slots=True)
class Other:
    """What is left beside the hot spots shown."""

    count: int
    time: float
    share: float
    waiting: float
    """Seconds; NaN where it was not measured at all."""


def hot_spots(profile: Profile, most: int | None = None) -> list[HotSpot]:
    """The `most` hot spots (all of them when None) by time, the largest first."""
    rows, starts = _grouped(profile)
    if not len(rows):
        return []
    total = float(profile.cells["time"].sum())
    times = np.add.reduceat(rows["time"], starts)
    order = np.argsort(-times, kind="stable")
    ends = np.append(starts[1:], len(rows))
    waits = profile.late[np.argsort(_keys(profile, profile.late), kind="stable")]
    keys = _keys(profile, waits)
    spots: list[HotSpot] = []
    for n in order:
        if len(spots) == most:
            break
        own = rows[starts[n] : ends[n]]
        low, high = np.searchsorted(keys, _keys(profile, own[:1])[0] + np.arange(2))
        spot = _spot(profile, own, waits[low:high], total)
        if spot.time > _NOTHING * spot.completion or not spot.completion > 0:
            spots.append(spot)
    return spots


def other(profile: Profile, shown: list[HotSpot]) -> Other:
    """What MPI calls take beside `shown`."""
    rows = profile.mpi_rows
    total = float(profile.cells["time"].sum())
    time = max(0.0, float(rows["time"].sum()) - math.fsum(spot.time for spot in shown))
    count = len(np.unique(_keys(profile, rows))) - len(shown)
    measured = math.fsum(spot.waiting for spot in shown if not math.isnan(spot.waiting))
    waiting = known_sum(rows["waiting"])
    left = math.nan if math.isnan(waiting) else max(0.0, waiting - measured)
    return Other(count, time, time / total if total > 0 else 0.0, left)


def known_sum(values: npt.NDArray[np.float64]) -> float:
    """Of the numbers among them; NaN where there is none."""
    known = values[~np.isnan(values)]
    return float(known.sum()) if len(known) else math.nan


def _grouped(profile: Profile) -> tuple[Cells, npt.NDArray[np.intp]]:
    """The rows of MPI calls, those of one hot spot side by side, and where each begins."""
    rows = with_waits(profile)
    key = _keys(profile, rows)
    order = np.argsort(key, kind="stable")
    rows, key = rows[order], key[order]
    starts = np.flatnonzero(np.concatenate(([True], key[1:] != key[:-1]))) if len(rows) else np.zeros(0, np.intp)
    return rows, starts


def _keys(profile: Profile, rows: Cells) -> npt.NDArray[np.int64]:
    """Equal for rows of one hot spot, different for others."""
    key = rows["function"].astype(np.int64)
    for column, count in (
        ("path", len(profile.paths)),
        ("comm", len(profile.comms) + 1),
        ("phase", len(profile.phases)),
    ):
        key = key * count + (rows[column] - (UNKNOWN if column == "comm" else 0))
    return key


def _spot(profile: Profile, rows: Cells, waits: Cells, total: float) -> HotSpot:
    first = rows[0]
    ranks, of_row = np.unique(rows["rank"], return_inverse=True)
    calls, seconds = np.zeros(len(ranks)), np.zeros(len(ranks))
    np.add.at(calls, of_row, np.maximum(rows["calls"], 0))
    np.add.at(seconds, of_row, rows["time"])
    time = float(seconds.sum())
    path, comm = int(first["path"]), int(first["comm"])
    summed = profile.origin.summed
    return HotSpot(
        function=profile.functions[first["function"]],
        path=path,
        frames=tuple(profile.chain(path)),
        comm=profile.comms[comm] if comm != UNKNOWN else None,
        phase=profile.phases[first["phase"]],
        ranks=len(ranks),
        visits=_total(rows["calls"]),
        calls=_spread(calls, ranks, summed),
        seconds=_spread(seconds, ranks, summed),
        time=time,
        share=time / total if total > 0 else 0.0,
        waiting=known_sum(rows["waiting"]),
        sent=_total(rows["sent"]),
        received=_total(rows["received"]),
        sizes=size_bins(rows),
        fastest=float(np.fmin.reduce(rows["time_min"])),
        waits=_waits(rows, of_row, calls) if len(ranks) == profile.ranks and not summed else (),
        late=late_of(profile, rows, waits),
        completion=known_sum(rows["completion"]),
        completed=_total(rows["completed"]),
    )


def _waits(rows: Cells, of_row: npt.NDArray[np.intp], calls: npt.NDArray[np.float64]) -> tuple[float, ...]:
    """Of a call on each rank."""
    if np.isnan(rows["waiting"]).any() or not calls.all():
        return ()
    waiting = np.zeros(len(calls))
    np.add.at(waiting, of_row, rows["waiting"])
    blocks = np.array_split(waiting / calls, min(len(calls), BLOCKS))
    return tuple(float(block.mean()) for block in blocks)


def _spread(values: npt.NDArray[np.float64], ranks: npt.NDArray[np.int32], summed: bool) -> Spread:
    if summed:
        mean = float(values.mean())
        return Spread(mean, mean, mean, UNKNOWN)
    return Spread(float(values.min()), float(values.mean()), float(values.max()), int(ranks[values.argmax()]))


def _total(values: npt.NDArray[np.int64]) -> int:
    """Their sum; UNKNOWN where any of them is."""
    return UNKNOWN if np.any(values < 0) else int(values.sum())
