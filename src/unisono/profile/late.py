"""Late senders and late receivers of one call site: who waits, for whom, and what can be done about it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unisono.core.display import percent
from unisono.core.language import _
from unisono.profile.messages import CALLS
from unisono.profile.recorded import Profile

WORTH = 0.05
"""Of a call's time: less waiting is nothing to speak of."""
_UNTOLD = 0.1
"""Of a call's time: so much of it unmeasured is said."""


@dataclass(frozen=True, slots=True)
class LateMessages:
    """Seconds, all ranks together."""

    sender: float
    """Waited for senders that came late."""
    receiver: float
    """Waited for receivers that came late."""
    unknown: float
    """Of the call's time, that of ranks whose messages were not paired: what they waited for is not known."""
    rank: int = -1
    """Who waited longest; -1: nobody did."""
    peer: int = -1
    """For whom that rank waited longest."""

    def partly(self, time: float) -> bool:
        """Whether a part of the call's `time` worth naming was not measured."""
        return self.unknown >= _UNTOLD * time


def late_of(profile: Profile, rows: npt.NDArray[np.void], waits: npt.NDArray[np.void]) -> LateMessages | None:
    """Of a hot spot with these `CELL` and `LATE` rows; None where nobody waits in it or nothing was asked for."""
    origin = profile.origin
    if origin.source != "unisono" or not origin.split_waiting or profile.functions[rows["function"][0]] not in CALLS:
        return None
    unknown = float(rows["time"][np.isnan(rows["waiting"])].sum())
    receiver = float(waits["time"][waits["receiver"]].sum())
    sender = float(waits["time"].sum()) - receiver
    if sender + receiver <= 0:
        return LateMessages(0.0, 0.0, unknown)
    rank = int(np.bincount(waits["rank"], waits["time"]).argmax())
    own = waits[waits["rank"] == rank]
    return LateMessages(max(sender, 0.0), receiver, unknown, rank, int(np.bincount(own["peer"], own["time"]).argmax()))


def late_sentence(call: str, time: float, late: LateMessages | None) -> str:
    """What a call that takes `time` seconds waits for, and what follows from it; "" where that is nothing to speak of.
    Whatever was not measured is said to be."""
    if late is None or time <= 0:
        return ""
    if late.unknown >= time * (1 - 1e-9):
        return _(
            "{call}: whether it waits for late senders or late receivers was not measured: its messages could not be "
            "paired."
        ).format(call=call)
    waits = late.sender + late.receiver
    if waits < WORTH * time:
        return ""
    if late.sender >= late.receiver:
        said = _(
            "{call}: {share} of its time is waiting for senders that came late (rank {rank} waits longest, for "
            "rank {peer}). The cause is load imbalance or the order of messages, which no setting changes."
        )
    else:
        said = _(
            "{call}: {share} of its time is waiting for receivers that came late (rank {rank} waits longest, for "
            "rank {peer}). Receives that are posted earlier avoid that; the only setting that does is an eager "
            "limit above the message size."
        )
    sentence = said.format(call=call, share=percent(min(waits / time, 1.0)), rank=late.rank, peer=late.peer)
    if not late.partly(time):
        return sentence
    more = _("{share} of the time of this call was not measured.").format(share=percent(late.unknown / time))
    return f"{sentence} {more}"
