"""The physical lower bound of a collective, from the limits measured in the same launch."""

from __future__ import annotations

from collections.abc import Sequence

from unisono.core.vocabulary import NEIGHBOURHOODS, blocking
from unisono.measure.protocol import Limits, Rate

_NS = 1e-9
_ALL_HEAR_ALL = (
    *("allreduce", "allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw"),
    *("reduce_scatter", "reduce_scatter_block", "barrier"),
)
_OWN_BLOCK = ("allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw")
_BETWEEN_NODES = ("pingpong", "halo26", *NEIGHBOURHOODS)
"""What need not move a byte within a node where there are several."""


def floor(limits: Limits, collective: str, nodes: int, ppn: int, size: int) -> float | None:
    """Seconds below which no algorithm gets on these ranks; None where nothing bounds it or nothing was measured.

    The larger of three bounds, q = ppn ranks on each of N nodes, n bytes of a vector, m bytes a pair:

    - **Latency.** Where every rank's result depends on every rank's data (allreduce, allgather(v), alltoall(v),
      reduce_scatter(_block), barrier): the time for all ranks of a node to hear of all by flags in shared memory.
      Elsewhere: one flag between the two closest cores. Over several nodes at least one message between nodes.
    - **One copy, all cores, both directions.** Each byte is copied once, from the memory it lies in to the memory it is
      wanted in; all cores of the ranks share that work evenly, whoever sends or receives (the sender may write while
      the receiver reads), at the best rate measured for as many bytes a core or more:

      | collective | bytes copied on a node |
      |---|---|
      | bcast | (q - 1) n |
      | reduce | n + (q - 2) n / 3 |
      | allreduce | (q - 1) n more than a reduce |
      | reduce_scatter | n + (q - 2) n / 3 |
      | reduce_scatter_block | q (m + (q - 2) m / 3) |
      | allgather(v), alltoall(v), alltoallw | q (q - 1) m, and of its own each rank m |
      | gather(v), scatter(v) | (q - 1) m |
      | scan, exscan (a result for each rank but one that lies elsewhere before) | (q - 1) n |
      | pingpong, exchange (some rank's message) | m |
      | halo26, neighbor_* (a grid joins all ranks, both ways; of the v's blocks half) | 2 (q - 1) m |

      A reduction has to read each of q contributions to an element but one from another rank, and to write one result:
      that one is a copy; bytes read and not written count a third, for a copy moves three (it reads them, and the
      lines it writes, and writes those). A collective over several nodes does at least this within a node, except a
      pingpong, whose ends are then on different nodes, and what goes to neighbours, who may all be on other nodes.
      A rank's own block, of a call that is not in place, is copied at the rate of a rank's own memory.
    - **Link**, bytes through one node's connection in one direction, at the best rate measured between two nodes:
      bcast, reduce, scan and exscan n, allreduce 2 n (N - 1) / N, reduce_scatter n (N - 1) / N, allgather(v),
      gather(v), scatter(v) and reduce_scatter_block (N - 1) q m, alltoall(v) q q (N - 1) m, pingpong m (Thakur,
      Rabenseifner, Gropp, IJHPCA 19, 2005; Chan et al., CCPE 19, 2007, bandwidth terms).

    Rates are the best of what the cores were seen to do (copying with memcpy and with the processor's own move,
    pulling, pushing, half of each), so the bound holds as far as no copy is quicker than all of these.
    """
    collective = blocking(collective)  # what it does is the same, and the wait for it is part of the time
    if collective == "exchange" and nodes > 1:  # on which nodes its partners are is the program's affair
        return None
    if limits.unavailable is not None or nodes * ppn < 2 or (size == 0 and collective != "barrier"):
        return None
    bounds = [_latency(limits, collective, nodes, ppn), _copies(limits, collective, nodes, ppn, size)]
    if nodes > 1 and limits.link is not None:
        bounds.append(_link_volume(collective, nodes, ppn, size) / _best(limits.link.bandwidth) * _NS)
    best = max(bounds)
    return best if best > 0 else None


def _latency(limits: Limits, collective: str, nodes: int, ppn: int) -> float:
    inside = limits.flags_ns
    if collective not in _ALL_HEAR_ALL and limits.latency_ns is not None and inside is not None:
        inside = min(limits.latency_ns, inside)  # hearing of all cannot be quicker than hearing of one
    if ppn == 1 or (nodes > 1 and collective == "pingpong"):
        inside = None
    between = limits.link.latency_ns if nodes > 1 and limits.link is not None else None
    return max(inside or 0.0, between or 0.0) * _NS


def _copies(limits: Limits, collective: str, nodes: int, ppn: int, size: int) -> float:
    if not limits.copy_rates or ppn == 1 or (nodes > 1 and collective in _BETWEEN_NODES):
        return 0.0
    copied = _copied(collective, ppn, size)
    seconds = copied / _rate(limits.copy_rates, copied / ppn) * _NS
    if collective not in _OWN_BLOCK:
        return seconds
    return max(seconds, _with_own_block(limits.copy_rates, copied, ppn * size, _held(collective, ppn, size)))


def _held(collective: str, q: int, m: int) -> float:
    """A rank has q + 1 or 2 q blocks, sent and received: a copy of half as many takes no more of its cache."""
    return m * ((q + 1) / 2 if collective.startswith("allgather") else q)


def bytes_a_core(collective: str, ppn: int, size: int) -> float:
    """How long a copy is that `floor` wants to know the rate of."""
    collective = blocking(collective)
    copied = _copied(collective, ppn, size) / ppn
    return max(copied, _held(collective, ppn, size)) if collective in _OWN_BLOCK else copied


def _with_own_block(rates: Sequence[Rate], copied: float, own: float, each: float) -> float:
    """Seconds for bytes that another rank wrote and a rank's own; 0 where nobody measured the rate of these."""
    within = [Rate(bytes=rate.bytes, gbps_one=0, gbps_all=rate.gbps_own) for rate in rates if rate.gbps_own]
    if not within:
        return 0.0
    other = _rate(rates, each)
    return (copied / other + own / max(_rate(within, each), other)) * _NS


def _copied(collective: str, q: int, n: int) -> float:
    """Bytes that one copy each moves between the ranks of a node, what is only read counted a third."""
    reduced = n + (q - 2) * n / 3
    return {
        "bcast": (q - 1) * n,
        "reduce": reduced,
        "allreduce": reduced + (q - 1) * n,
        "allreduce5": reduced + (q - 1) * n,
        "reduce_scatter": reduced,
        "reduce_scatter_block": q * reduced,
        **dict.fromkeys(("gather", "gatherv", "scatter", "scatterv"), (q - 1) * n),
        # What lies lowest reaches whoever is above: one vector a rank, the rest is read where it lies.
        "scan": (q - 1) * n,
        "exscan": (q - 1) * n,
        "pingpong": n,
        # What joins q ranks are q - 1 pairs at least; the v's shortest blocks are half as long as the mean.
        "halo26": 2 * (q - 1) * n,
        **{name: 2 * (q - 1) * n / (2 if name.endswith("v") else 1) for name in NEIGHBOURHOODS},
        "exchange": n,
        "barrier": 0,
    }.get(collective, q * (q - 1) * n)


def _link_volume(collective: str, nodes: int, ppn: int, size: int) -> float:
    return {
        "bcast": float(size),
        "reduce": float(size),
        "allreduce": 2 * size * (nodes - 1) / nodes,
        "reduce_scatter": size * (nodes - 1) / nodes,
        "alltoall": float(ppn * ppn * (nodes - 1) * size),
        "alltoallv": float(ppn * ppn * (nodes - 1) * size),
        "alltoallw": float(ppn * ppn * (nodes - 1) * size),
        "scan": float(size),
        "exscan": float(size),
        "pingpong": float(size),
        "barrier": 0.0,
        "allreduce5": 2 * size * (nodes - 1) / nodes,
        "halo26": float(size),
        **{name: size / (2 if name.endswith("v") else 1) for name in NEIGHBOURHOODS},
    }.get(collective, float((nodes - 1) * ppn * size))


def _rate(rates: Sequence[Rate], each: float) -> float:
    """GB/s of all cores together, `each` bytes a core: the best from the next smaller size measured up."""
    smaller = max((rate.bytes for rate in rates if rate.bytes <= each), default=0)
    return max(max(rate.gbps_one, rate.gbps_all) for rate in rates if rate.bytes >= smaller)


def _best(rates: Sequence[Rate]) -> float:
    """GB/s of a link: the best of all sizes, one pair or all."""
    return max(max(rate.gbps_one, rate.gbps_all) for rate in rates)
