"""Late senders and late receivers: the ranks' logs of point-to-point messages, paired after the run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unisono.profile.clocks import compared
from unisono.profile.rawfile import CANCELLED, OPEN, SEND, Part
from unisono.profile.steps import STEP, step_of

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
    step: npt.NDArray[np.void]
    """A step of the program's messages (`steps.STEP`)."""
    nodes: int = 1
    """On so many nodes were ranks whose messages were paired."""
    unsure: float = 0.0
    """Seconds: so far, either way, the clocks of nodes are known at half of the messages between them."""


def waited(parts: Sequence[Part]) -> Waited:
    """What calls waited for, of all parts that have a log of messages.

    A call that completes a receive waits for a late sender from its beginning until the send began. A call that
    completes a send, and ends only after the receive was posted, waits for a late receiver until then. Of several
    messages in one call the longest wait counts. Ranks of one node have one clock; those of nodes are compared by the
    messages themselves, and what remains uncertain counts as time that was not paired.
    """
    rows = tuple(np.full(len(part.cells), np.nan) for part in parts)
    nobody = tuple(np.zeros(0, WAIT) for _part in parts)
    logs = [_told(part.messages) for part in parts]
    if not any(len(log) for log in logs):
        return Waited(rows, nobody, 0.0, 0.0, 0.0, np.zeros(0, STEP))
    log = np.concatenate(logs)
    number = np.repeat(np.arange(len(parts)), [len(one) for one in logs])
    send, receive = _pairs(log, number, parts)
    step = step_of(log, np.asarray([part.rank for part in parts], np.int64)[number], send, receive)
    late, spread, clocks = _late(log, send, receive, np.asarray([part.number("node", -1) for part in parts])[number])
    timed = (log["end"] > 0) & (log["cell"] != NO_CELL)
    log, number, late, spread = log[timed], number[timed], late[timed], spread[timed]
    if not len(log):
        return Waited(rows, nobody, 0.0, 0.0, 0.0, step)
    order = np.lexsort((log["begin"], log["cell"], number))
    log, number, late, spread = log[order], number[order], late[order], spread[order]
    same = (
        (np.diff(number) == 0) & (np.diff(log["cell"].astype(np.int64)) == 0) & (log["begin"][1:] == log["begin"][:-1])
    )
    first = np.flatnonzero(np.concatenate([[True], ~same]))
    seconds = (log["end"][first] - log["begin"][first]) / 1e9
    told = np.maximum(seconds - 2 * np.fmax.reduceat(spread, first), 0.0)
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
        covered = np.bincount(cells, told[mine], len(row))
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
        float(told[known].sum()),
        step,
        *clocks,
    )


def _told(log: npt.NDArray[np.void]) -> npt.NDArray[np.void]:
    """A log up to the first message of which it is not known whose it is: later ones would be paired wrongly. Without
    what was cancelled."""
    lost = np.flatnonzero(log["peer"] == OPEN)
    told: npt.NDArray[np.void] = log[: lost[0]] if len(lost) else log
    kept: npt.NDArray[np.void] = told[told["peer"] != CANCELLED]
    return kept


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


def _late(
    log: npt.NDArray[np.void],
    send: npt.NDArray[np.int64],
    receive: npt.NDArray[np.int64],
    nodes: npt.NDArray[np.int64],
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], tuple[int, float]]:
    """Seconds that each message's call waited for the other side, and by how much that is uncertain either way; NaN for
    messages that were not paired. And how many nodes were compared, with the uncertainty of their clocks. `nodes`: on
    which each message of the log was."""
    here, there = nodes[send], nodes[receive]
    sent, ended = log["posted"][send].astype(np.int64), log["end"][receive].astype(np.int64)
    apart = (here != there) & (here >= 0) & (there >= 0)
    low = np.where((here == there) & (here >= 0), 0.0, np.nan)
    high = low.copy()
    if apart.any():
        good = apart & (ended > 0)
        clocks = compared(here[good], there[good], sent[good], ended[good])
        for a, b in np.unique(np.stack([here[apart], there[apart]], axis=1), axis=0).tolist():
            these = (here == a) & (there == b)
            low[these], high[these] = clocks.ahead(a, b, sent[these].astype(np.float64))
    paired = ~np.isnan(low)
    send, receive, low, high, apart = send[paired], receive[paired], low[paired], high[paired], apart[paired]
    late, spread = np.full(len(log), np.nan), np.full(len(log), np.nan)
    ends = [_both(log[send], log[receive], ahead) for ahead in (low, high)]
    for place, one, other in zip((send, receive), *ends, strict=True):
        late[place], spread[place] = (one + other) / 2, np.abs(one - other) / 2
    met = len(np.unique(np.concatenate([nodes[send[apart]], nodes[receive[apart]]]))) if apart.any() else 1
    unsure = float(np.median((high - low)[apart]) / 2e9) if apart.any() else 0.0
    return late, spread, (met, unsure)


def _both(
    send: npt.NDArray[np.void], receive: npt.NDArray[np.void], ahead: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Seconds that the sends waited for their receives, and the receives for their sends, where the receivers' clocks
    are so many nanoseconds ahead of the senders'."""
    shift = np.round(ahead).astype(np.int64)
    posted = receive["posted"].astype(np.int64) - shift
    blocked = send["end"].astype(np.int64) >= posted
    waits = _until(send["posted"].astype(np.int64) + shift, receive)
    return np.where(blocked, _until(posted, send), 0.0), waits


def _pairs(
    log: npt.NDArray[np.void], number: npt.NDArray[np.int64], parts: Sequence[Part]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Which message of the log is the send, and which the receive, of each message of which both are there."""
    ranks = np.asarray([part.rank for part in parts], np.int64)
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
    return order[:-1][pairs], order[1:][pairs]


def _differ(order: npt.NDArray[np.int64], *columns: npt.NDArray[np.generic]) -> npt.NDArray[np.bool_]:
    """Whether each but the first differs from the one before it in any of the columns."""
    return np.asarray(np.any([column[order][1:] != column[order][:-1] for column in columns], axis=0), np.bool_)


def _until(then: npt.NDArray[np.int64], call: npt.NDArray[np.void]) -> npt.NDArray[np.float64]:
    """Seconds from a call's beginning until `then`, at most until its end."""
    begin = call["begin"].astype(np.int64)
    whole = np.maximum(call["end"].astype(np.int64) - begin, 0)
    return np.asarray(np.clip(then - begin, 0, whole) / 1e9, np.float64)
