"""From Score-P's bytes to IMB's message sizes.

Score-P counts what a call moves, the rank itself included: an alltoall of s bytes a peer on P ranks sends P x s. Which
of its two byte metrics leads back to s, and by which factor, depends on the function.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from unisono.profile.recorded import UNKNOWN, collective_of

_SENT = "sent"
_RECEIVED = "received"
_RULES: dict[str, tuple[str, bool]] = {
    "alltoall": (_SENT, True),
    "alltoallv": (_SENT, True),
    "allgather": (_SENT, True),
    "allgatherv": (_SENT, True),
    "allreduce": (_SENT, True),
    "bcast": (_RECEIVED, False),
    "scatter": (_RECEIVED, False),
    "reduce": (_SENT, False),
    "gather": (_SENT, False),
}
"""Collective -> the metric, and whether it counts every rank of the communicator."""
_SENDS = ("Send", "Bsend", "Ssend", "Rsend", "Isend", "Ibsend", "Issend", "Irsend", "Sendrecv", "Sendrecv_replace")
_RECEIVES = ("Recv", "Irecv", "Mrecv", "Imrecv")


def message_size(
    function: str,
    ranks: int,
    calls: npt.NDArray[np.float64],
    sent: npt.NDArray[np.float64] | None,
    received: npt.NDArray[np.float64] | None,
) -> npt.NDArray[np.int64]:
    """Mean message size per row in bytes, UNKNOWN where it cannot be told. `ranks`: of the communicator."""
    sizes = np.full(len(calls), UNKNOWN, np.int64)
    collective = collective_of(function)
    if collective == "barrier":
        sizes[:] = 0
        return sizes
    metric, per_rank = _rule(function, collective)
    values = sent if metric == _SENT else received if metric == _RECEIVED else None
    if values is None:
        return sizes
    known = (calls > 0) & (values > 0)
    sizes[known] = np.rint(values[known] / calls[known] / (ranks if per_rank else 1))
    return sizes


def _rule(function: str, collective: str | None) -> tuple[str, bool]:
    if collective in _RULES:
        return _RULES[collective]
    name = function.removeprefix("MPI_")
    if name in _SENDS:
        return _SENT, False
    return (_RECEIVED, False) if name in _RECEIVES else ("", False)
