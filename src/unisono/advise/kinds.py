"""Kinds of calls: what a study can measure of a program, and what it cannot."""

from __future__ import annotations

import math

from unisono.core.language import N_
from unisono.core.vocabulary import WITH_REQUEST
from unisono.profile.hot import HotSpot
from unisono.profile.recorded import has_request, is_persistent

COLLECTIVE = "collective"
NONBLOCKING = "nonblocking collective"
"""Or a persistent one: the program waits for its requests."""
OTHER_COLLECTIVE = "other collective"
"""A nonblocking or persistent collective of whose completion too little is known."""
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
    """One of the kinds above. A nonblocking or persistent collective is measured where a study can, and where the
    profile holds how long the program waited for nearly all of its calls."""
    if spot.collective is not None or has_request(spot.function):
        if spot.measured == spot.collective:
            return COLLECTIVE
        return NONBLOCKING if spot.measured in WITH_REQUEST and _followed(spot) else OTHER_COLLECTIVE
    return MESSAGES if spot.function.removeprefix("MPI_").removesuffix("_c") in _MESSAGE_CALLS else OTHER


def why_unmeasured() -> str:
    """Of an OTHER_COLLECTIVE."""
    return N_("how long the program waits for it is not in the profile")


def _followed(spot: HotSpot) -> bool:
    """Of a persistent one it is not known how many starts there were beside those that were seen to complete."""
    if is_persistent(spot.function):
        return not math.isnan(spot.completion) and spot.completed > 0
    return not math.isnan(spot.completion) and spot.completed >= FOLLOWED * spot.visits
