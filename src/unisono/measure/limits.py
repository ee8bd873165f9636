"""The physical lower bound of a collective, from the limits measured in the same launch."""

from __future__ import annotations

from collections.abc import Sequence

from unisono.measure.protocol import Limits, Rate

_NS = 1e-9
_ALL_HEAR_ALL = ("allreduce", "allgather", "allgatherv", "alltoall", "alltoallv", "reduce_scatter_block", "barrier")


def floor(limits: Limits, collective: str, nodes: int, ppn: int, size: int) -> float | None:
    """Seconds below which no algorithm gets on these ranks; None where nothing bounds it or nothing was measured.

    The larger of three bounds, q = ppn ranks on each of N nodes, n bytes of a vector, m bytes a pair:

    - **Latency.** Where every rank's result depends on every rank's data (allreduce, allgather(v), alltoall(v),
      reduce_scatter_block, barrier): the time for all ranks of a node to hear of all by flags in shared memory.
      Elsewhere: one flag between the two closest cores. Over several nodes at least one message between nodes.
    - **Copies within a node**, each byte copied once from the memory it lies in to the memory it is wanted in, all
      ranks together (measured while all copied at once), and by a rank that alone must receive so much:

      | collective | all ranks of the node | one rank alone |
      |---|---|---|
      | bcast | (q - 1) n | n |
      | allreduce | 2 (q - 1) n | - |
      | reduce | (q - 1) n | - |
      | allgather(v), alltoall(v), reduce_scatter_block | q (q - 1) m | - |
      | gather, scatter | (q - 1) m | - |
      | pingpong, halo26 (at least one neighbour) | - | m |

      (A reduction has to read each of q contributions to an element but one from another rank; an allreduce brings
      the result to the q - 1 others too. A collective over several nodes does at least this within a node, except a
      pingpong, whose ends are then on different nodes.)
    - **Link**, bytes through one node's connection in one direction, at the best rate measured between two nodes:
      bcast and reduce n, allreduce 2 n (N - 1) / N, allgather(v) and gather and scatter and reduce_scatter_block
      (N - 1) q m, alltoall(v) q q (N - 1) m, pingpong m (Thakur, Rabenseifner, Gropp, IJHPCA 19, 2005; Chan et al.,
      CCPE 19, 2007, bandwidth terms).

    Copy rates depend on how much is copied, so the rate at the nearest sizes measured, the better of two, is taken.
    """
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
    if not limits.copy_rates or ppn == 1 or (nodes > 1 and collective == "pingpong"):
        return 0.0
    q, n = ppn, size
    together, alone = {
        "bcast": ((q - 1) * n, n),
        "allreduce": (2 * (q - 1) * n, 0),
        "reduce": ((q - 1) * n, 0),
        "gather": ((q - 1) * n, 0),
        "scatter": ((q - 1) * n, 0),
        "pingpong": (0, n),
        "barrier": (0, 0),
        "allreduce5": (2 * (q - 1) * n, 0),
        "halo26": (0, n),
    }.get(collective, (q * (q - 1) * n, 0))
    each = max(together // q, alone)
    rates = limits.copy_rates
    return max(together / _rate(rates, each, all_ranks=True), alone / _rate(rates, each, all_ranks=False)) * _NS


def _link_volume(collective: str, nodes: int, ppn: int, size: int) -> float:
    return {
        "bcast": float(size),
        "reduce": float(size),
        "allreduce": 2 * size * (nodes - 1) / nodes,
        "alltoall": float(ppn * ppn * (nodes - 1) * size),
        "alltoallv": float(ppn * ppn * (nodes - 1) * size),
        "pingpong": float(size),
        "barrier": 0.0,
        "allreduce5": 2 * size * (nodes - 1) / nodes,
        "halo26": float(size),
    }.get(collective, float((nodes - 1) * ppn * size))


def _rate(rates: Sequence[Rate], size: int, *, all_ranks: bool) -> float:
    """GB/s at a size: of the measured sizes around it, the better."""
    ordered = sorted(rates, key=lambda rate: rate.bytes)
    below = [rate for rate in ordered if rate.bytes <= size][-1:] or ordered[:1]
    above = [rate for rate in ordered if rate.bytes >= size][:1] or ordered[-1:]
    return max(rate.gbps_all if all_ranks else rate.gbps_one for rate in below + above)


def _best(rates: Sequence[Rate]) -> float:
    """GB/s of a link: the best of all sizes, one pair or all."""
    return max(max(rate.gbps_one, rate.gbps_all) for rate in rates)
