"""A step of a program's point-to-point messages, as `exchange` replays it: out of the ranks' logs.

Programs exchange the same messages over and over. Of each kind of message (source, target, bytes, tag) those from the
middle of the run are taken, as many as come in a step, with each rank's order and with what it waits for: messages that
were really sent and received. Nothing that is left out held them up the other way round, so what did not deadlock in
the program does not in its replay.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from unisono.core.vocabulary import STEP_MOST

STEP = np.dtype([(name, np.int64) for name in ("rank", "operation", "peer", "bytes", "tag")])
"""What each rank does, one after the other; ranks of MPI_COMM_WORLD, tags from 0."""
IRECV, ISEND, RECV, SEND, WAIT = range(5)
"""Values of `operation`; WAIT is for all that is under way (native/bench/partners.h)."""
LEAST = 3
"""Fewer steps than that are none."""
COVERED = 0.8
"""A step stands for the program where all steps together are so much of its messages, by bytes and number ..."""
_PER_MESSAGE = 4096
"""... of which one weighs so many bytes more."""
_MOST_ALIKE = 64
"""Messages of one kind in a step, at most."""


def step_of(
    log: npt.NDArray[np.void],
    rank: npt.NDArray[np.int64],
    send: npt.NDArray[np.int64],
    receive: npt.NDArray[np.int64],
) -> npt.NDArray[np.void]:
    """Of logs one after the other, `rank` whose each message is, with the pairs found in them. Empty where there are no
    steps that stand for the program, or where one has more than STEP_MOST operations."""
    nothing = np.zeros(0, STEP)
    order = np.argsort(send, kind="stable")
    send, receive = send[order], receive[order]
    apart = rank[send] != rank[receive]
    send, receive = send[apart], receive[apart]
    if not len(send):
        return nothing
    labels = np.stack([log["tag"][send].astype(np.int64), log["comm"][send].astype(np.int64)], axis=1)
    tags = np.unique(labels, axis=0, return_inverse=True)[1].reshape(-1)
    keys = np.stack([rank[send], rank[receive], log["bytes"][send].astype(np.int64), tags], axis=1)
    kinds_of, kind, counts = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    kind = kind.reshape(-1)
    often, kinds = np.unique(counts, return_counts=True)
    steps = int(often[(often * kinds).argmax()])
    alike = np.minimum(np.rint(counts / steps).astype(np.int64), _MOST_ALIKE)
    if steps < LEAST or 2 * alike.sum() > STEP_MOST:
        return nothing
    weights = kinds_of[:, 2] + _PER_MESSAGE
    if (np.minimum(alike * steps, counts) * weights).sum() < COVERED * (counts * weights).sum():
        return nothing  # a program of several phases has several steps
    grouped = np.argsort(kind, kind="stable")
    nth = np.empty(len(kind), np.int64)
    nth[grouped] = np.arange(len(kind)) - np.repeat(np.cumsum(counts) - counts, counts)
    first = steps // 2 * alike
    chosen = np.flatnonzero((nth >= first[kind]) & (nth < (first + alike)[kind]))
    tag_of = {int(place): int(tags[at]) for at in chosen for place in (send[at], receive[at])}
    peer_of = {int(send[at]): int(rank[receive[at]]) for at in chosen}
    peer_of |= {int(receive[at]): int(rank[send[at]]) for at in chosen}
    bytes_of = {int(place): int(log["bytes"][send[at]]) for at in chosen for place in (send[at], receive[at])}
    sends = {int(place) for place in send[chosen]}
    rows: list[tuple[int, int, int, int, int]] = []
    whose, under_way = -1, 0.0
    for place in sorted(tag_of):
        own, message = int(rank[place]), log[place]
        if own != whose:
            whose, under_way = own, 0.0
        elif 0 < under_way <= int(message["posted"]):
            rows.append((own, WAIT, own, 0, 0))
            under_way = 0.0
        together = any(_together(log, rank, place, other) for other in (place - 1, place + 1))
        blocks = _blocks(message) and not together
        operation = (SEND if blocks else ISEND) if place in sends else (RECV if blocks else IRECV)
        rows.append((own, operation, peer_of[place], bytes_of[place], tag_of[place]))
        if not blocks:
            ended = int(message["begin"]) + together if message["end"] > 0 else math.inf
            under_way = max(under_way, ended)
    return np.asarray(rows, STEP) if len(rows) <= STEP_MOST else nothing


def _blocks(message: np.void) -> bool:
    """The call that posted it completed it."""
    return bool(message["end"] > 0 and message["begin"] == message["posted"])


def _together(log: npt.NDArray[np.void], rank: npt.NDArray[np.int64], place: int, other: int) -> bool:
    """A Sendrecv: one call that sends and receives, without an order of the two."""
    if not 0 <= other < len(log) or rank[other] != rank[place]:
        return False
    one, two = log[place], log[other]
    return bool(_blocks(one) and _blocks(two) and one["posted"] == two["posted"] and one["kind"] != two["kind"])
