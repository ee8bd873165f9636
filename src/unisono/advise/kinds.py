"""Kinds of calls: what a study can measure of a program, and what it cannot."""

from __future__ import annotations

import math

from unisono.core.language import N_
from unisono.core.vocabulary import NONBLOCKING as POSTED
from unisono.profile.hot import HotSpot
from unisono.profile.recorded import is_nonblocking, measured_as

COLLECTIVE = "collective"
NONBLOCKING = "nonblocking collective"
OTHER_COLLECTIVE = "other collective"
"""A persistent collective, or a nonblocking one of whose calls' completion too little is known."""
FOLLOWED = 0.9
"""Of a nonblocking collective's calls: of fewer than these it is not known how long the program waited for them."""
MESSAGES = "point-to-point"
OTHER = "other"
PINGPONG, EXCHANGE = "pingpong", "exchange"
"""What is measured for point-to-point calls: a message at a time, or the program's own sizes and partners."""
MEASURED = (COLLECTIVE, NONBLOCKING, MESSAGES)
"""What a study can measure."""

_MESSAGE_CALLS = frozenset(
    {"Send", "Bsend", "Ssend", "Rsend", "Isend", "Ibsend", "Issend", "Irsend", "Recv", "Irecv", "Mrecv", "Imrecv"}
    | {"Sendrecv", "Sendrecv_replace", "Isendrecv", "Isendrecv_replace", "Probe", "Iprobe", "Mprobe", "Improbe"}
    | {"Wait", "Waitall", "Waitany", "Waitsome", "Test", "Testall", "Testany", "Testsome", "Start", "Startall"}
    | {"Send_init", "Bsend_init", "Ssend_init", "Rsend_init", "Recv_init"}
)


def kind_of(spot: HotSpot) -> str:
    """One of the kinds above. A nonblocking collective is measured where a study can, and where the profile holds how
    long the program waited for nearly all of its calls."""
    if spot.collective is not None or is_nonblocking(spot.function):
        if spot.measured == spot.collective:
            return COLLECTIVE
        return NONBLOCKING if spot.measured in POSTED and _followed(spot) else OTHER_COLLECTIVE
    return MESSAGES if spot.function.removeprefix("MPI_").removesuffix("_c") in _MESSAGE_CALLS else OTHER


def why_unmeasured(function: str) -> str:
    """Of an OTHER_COLLECTIVE."""
    if measured_as(function) in POSTED:
        return N_("how long the program waits for it is not in the profile")
    return N_("how long the program waits for persistent collectives is not in the profile")


def _followed(spot: HotSpot) -> bool:
    return not math.isnan(spot.completion) and spot.completed >= FOLLOWED * spot.visits
