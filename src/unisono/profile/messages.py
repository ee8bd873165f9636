"""Late senders and late receivers: the ranks' logs of point-to-point messages, paired after the run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unisono.profile.rawfile import SEND, Part

WAIT = np.dtype([("cell", np.uint32), ("peer", np.int32), ("receiver", np.bool_), ("time", np.float64)])
"""Of one rank: which row waited, and for whom; seconds."""
NO_CELL = 0xFFFFFFFF
COVERED = 0.9
"""A row has a waiting time where the calls whose messages were all paired took at least this share of its time."""
CALLS = frozenset(
    f"MPI_{name}"
    for name in (
        *("Send", "Ssend", "Bsend", "Rsend", "Recv", "Mrecv", "Sendrecv", "Sendrecv_replace"),
        *("Wait", "Waitall", "Waitany", "Waitsome"),
    )
)
"""What waits for messages."""


@dataclass(frozen=True)
class Waited:
    """What the ranks' rows waited for."""

    rows: tuple[npt.NDArray[np.float64], ...]
    """For each part, seconds of each of its rows; NaN where too little of it was paired."""
    waits: tuple[npt.NDArray[np.void], ...]
    """For each part, for whom its rows waited (`WAIT`); nothing of rows of which too little was paired."""
    late_sender: float
    late_receiver: float
    """Seconds of all ranks in calls whose messages were all paired."""
    paired: float
    """Seconds of all ranks in these calls."""


def waited(parts: Sequence[Part]) -> Waited:
    """What calls waited for, of all parts that have a log of messages.

    A call that completes a receive waits for a late sender from its beginning until the send began. A call that
    completes a send, and ends only after the receive was posted, waits for a late receiver until then. Of several
    messages in one call the longest wait counts. Only messages within a node are paired, where the ranks
    have one clock.
    """
    rows = tuple(np.full(len(part.cells), np.nan) for part in parts)
    nobody = tuple(np.zeros(0, WAIT) for _part in parts)
    logs = [part.messages for part in parts]
    if not any(len(log) for log in logs):
        return Waited(rows, nobody, 0.0, 0.0, 0.0)
    log = np.concatenate(logs)
    number = np.repeat(np.arange(len(parts)), [len(one) for one in logs])
    late = _late(log, number, parts)
    timed = (log["end"] > 0) & (log["cell"] != NO_CELL)
    log, number, late = log[timed], number[timed], late[timed]
    if not len(log):
        return Waited(rows, nobody, 0.0, 0.0, 0.0)
    order = np.lexsort((log["begin"], log["cell"], number))
    log, number, late = log[order], number[order], late[order]
    same = (
        (np.diff(number) == 0) & (np.diff(log["cell"].astype(np.int64)) == 0) & (log["begin"][1:] == log["begin"][:-1])
    )
    first = np.flatnonzero(np.concatenate([[True], ~same]))
    seconds = (log["end"][first] - log["begin"][first]) / 1e9
    sends = log["kind"] == SEND
    by_sender = np.fmax.reduceat(np.where(sends, 0.0, late), first)
    by_receiver = np.fmax.reduceat(np.where(sends, late, 0.0), first)
    known = ~np.logical_or.reduceat(np.isnan(late), first)
    wait = np.maximum(by_sender, by_receiver)
    longest = _longest(late, first)
    waits = []
    for at, row in enumerate(rows):
        mine = known & (number[first] == at)
        cells = log["cell"][first][mine]
        total = np.bincount(cells, wait[mine], len(row))
        covered = np.bincount(cells, seconds[mine], len(row))
        time = parts[at].cells["time"] / 1e9
        enough = (covered > 0) & (covered >= COVERED * time)
        row[enough] = np.minimum(total, time)[enough]
        mine[mine] = enough[cells] & (wait[mine] > 0)
        waits.append(_whom(log[longest[mine]], wait[mine]))
    from_sender = known & (by_sender >= by_receiver)
    return Waited(
        rows,
        tuple(waits),
        float(by_sender[from_sender].sum()),
        float(by_receiver[known & ~from_sender].sum()),
        float(seconds[known].sum()),
    )


def _longest(late: npt.NDArray[np.float64], first: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """Of each call's messages, which begin at `first`, the one that was waited for longest."""
    call = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(late))))
    order = np.lexsort((np.nan_to_num(late), call))
    return np.asarray(order[np.append(first[1:], len(late)) - 1], np.intp)


def _whom(log: npt.NDArray[np.void], wait: npt.NDArray[np.float64]) -> npt.NDArray[np.void]:
    """The waits of one rank's calls, those of one row for one partner together."""
    keys = np.stack([log["cell"].astype(np.int64), log["peer"].astype(np.int64), log["kind"] == SEND], axis=1)
    found, place = np.unique(keys, axis=0, return_inverse=True)
    out = np.zeros(len(found), WAIT)
    out["cell"], out["peer"], out["receiver"] = found.T
    out["time"] = np.bincount(place.reshape(-1), wait, len(found))
    return out


def _late(log: npt.NDArray[np.void], number: npt.NDArray[np.int64], parts: Sequence[Part]) -> npt.NDArray[np.float64]:
    """Seconds that each message's call waited for the other side; NaN for messages that were not paired."""
    ranks = np.asarray([part.rank for part in parts], np.int64)
    nodes = np.asarray([part.number("node", -1) for part in parts], np.int64)
    own, peer = ranks[number], log["peer"].astype(np.int64)
    sends = log["kind"] == SEND
    source, target = np.where(sends, own, peer), np.where(sends, peer, own)
    channel = (log["tag"], target, source, log["comm"])
    # The n-th message of its channel and kind: the logs are in the order of posting.
    order = np.lexsort((np.arange(len(log)), log["kind"], *channel))
    begins = np.concatenate([[True], _differ(order, log["kind"], *channel)])
    places = np.arange(len(log))
    nth = np.empty(len(log), np.int64)
    nth[order] = places - np.maximum.accumulate(np.where(begins, places, 0))
    order = np.lexsort((log["kind"], nth, *channel))
    pairs = ~_differ(order, nth, *channel)
    send, receive = order[:-1][pairs], order[1:][pairs]
    node = nodes[number]
    together = (node[send] == node[receive]) & (node[send] >= 0)
    send, receive = send[together], receive[together]
    late = np.full(len(log), np.nan)
    late[receive] = _until(log["posted"][send], log[receive])
    blocked = log["end"][send] >= log["posted"][receive]
    late[send] = np.where(blocked, _until(log["posted"][receive], log[send]), 0.0)
    return late


def _differ(order: npt.NDArray[np.int64], *columns: npt.NDArray[np.generic]) -> npt.NDArray[np.bool_]:
    """Whether each but the first differs from the one before it in any of the columns."""
    return np.asarray(np.any([column[order][1:] != column[order][:-1] for column in columns], axis=0), np.bool_)


def _until(then: npt.NDArray[np.uint64], call: npt.NDArray[np.void]) -> npt.NDArray[np.float64]:
    """Seconds from a call's beginning until `then`, at most until its end."""
    begin = call["begin"].astype(np.int64)
    whole = np.maximum(call["end"].astype(np.int64) - begin, 0)
    return np.asarray(np.clip(then.astype(np.int64) - begin, 0, whole) / 1e9, np.float64)
