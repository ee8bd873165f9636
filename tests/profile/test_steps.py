"""A step of a program's messages, out of the ranks' logs."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np

from tests.profile.raw_samples import cell, part, raw_file, section
from unisono.profile.messages import waited
from unisono.profile.rawfile import RAW_MESSAGE, RECEIVE, read_parts
from unisono.profile.rawfile import SEND as SENT
from unisono.profile.steps import IRECV, ISEND, RECV, SEND, WAIT

STEPS = 40
Row = tuple[int, int, int, int, int, int, int, int, int]


def logs(steps: int = STEPS) -> list[list[Row]]:
    """Rank 0: a setup message; then in each step a halo of 4000 and 24 bytes, waited for, and a blocking 8 to rank 1,
    which answers by Sendrecv with rank 2; once, a message that is no part of any step."""
    found: list[list[Row]] = [[], [], []]

    def post(rank: int, kind: int, peer: int, size: int, tag: int, posted: int, begin: int, end: int) -> None:
        found[rank].append((posted, begin, end, 7, size if kind == SENT else 0, 0, peer, tag, kind))

    post(0, SENT, 1, 999, 9, 1, 1, 2)
    post(1, RECEIVE, 0, 999, 9, 1, 1, 2)
    for step in range(steps):
        t = 1000 * (step + 1)
        for rank, peer in ((0, 1), (1, 0)):
            post(rank, RECEIVE, peer, 0, 1, t, t + 50, t + 60)
            post(rank, RECEIVE, peer, 0, 2, t + 1, t + 50, t + 60)
            post(rank, SENT, peer, 4000, 1, t + 2, t + 50, t + 60)
            post(rank, SENT, peer, 24, 2, t + 3, t + 55, t + 60)
        post(0, SENT, 1, 8, 3, t + 100, t + 100, t + 110)
        post(1, RECEIVE, 0, 8, 3, t + 100, t + 100, t + 110)
        for rank, peer in ((1, 2), (2, 1)):
            post(rank, SENT, peer, 16, 4, t + 200, t + 200, t + 210)
            post(rank, RECEIVE, peer, 16, 4, t + 200, t + 200, t + 210)
    post(0, SENT, 2, 77, 5, 10**6, 10**6, 10**6 + 5)
    post(2, RECEIVE, 0, 77, 5, 10**6, 10**6, 10**6 + 5)
    return found


def step_of(rows: list[list[Row]], path: Path) -> list[tuple[int, ...]]:
    written = []
    for rank, log in enumerate(rows):
        body = part(rank, len(rows), cells=[cell(function=2, size=-1)], node=0).removesuffix(section("END ", b""))
        written.append(body + section("MSGS", np.asarray(log, RAW_MESSAGE).tobytes()) + section("END ", b""))
    path.write_bytes(raw_file(*written))
    return [tuple(row) for row in waited(read_parts(path)).step.tolist()]


def test_a_step_has_the_programs_sizes_order_and_waits(tmp_path: Path) -> None:
    found = step_of(logs(), tmp_path / "run.raw")
    mine = [(operation, peer, size) for rank, operation, peer, size, _tag in found if rank == 0]
    assert mine == [
        *((IRECV, 1, 4000), (IRECV, 1, 24), (ISEND, 1, 4000), (ISEND, 1, 24)),
        *((WAIT, 0, 0), (SEND, 1, 8)),
    ]
    next = [(operation, peer, size) for rank, operation, peer, size, _tag in found if rank == 1]
    assert next[4:] == [(WAIT, 1, 0), (RECV, 0, 8), (ISEND, 2, 16), (IRECV, 2, 16)]
    sent = Counter((rank, peer, size, tag) for rank, o, peer, size, tag in found if o in (SEND, ISEND))
    got = Counter((peer, rank, size, tag) for rank, o, peer, size, tag in found if o in (RECV, IRECV))
    assert sent == got and sum(sent.values()) == 7


def test_what_repeats_too_rarely_is_no_step(tmp_path: Path) -> None:
    assert step_of(logs(2), tmp_path / "run.raw") == []


def test_one_phase_of_several_does_not_stand_for_all(tmp_path: Path) -> None:
    """Behind the steps, a few large messages that are most of what is moved."""
    found = logs()
    for at in range(10):
        time = 10**7 + 1000 * at
        found[0].append((time, time, time + 5, 7, 1 << 20, 0, 1, 6, SENT))
        found[1].append((time, time, time + 5, 7, 0, 0, 0, 6, RECEIVE))
    assert step_of(found, tmp_path / "run.raw") == []
