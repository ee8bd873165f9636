"""The physical limit of a case, from what the benchmark measured in the same launches, and from the measured fabric."""

from __future__ import annotations

from collections.abc import Sequence

from unisono.core.errors import LaunchError
from unisono.core.vocabulary import Case
from unisono.fabric.limit import Slowest, slowest
from unisono.measure.limits import floor
from unisono.measure.protocol import Limits, Link, Rate, parse_limits
from unisono.study.data import StudyData


def limits_of(study: StudyData, nodes: int, ppn: int) -> Limits | None:
    """What was measured on these ranks; None where it was not, or by a benchmark that said it in another form."""
    stored = study.limits.get((nodes, ppn))
    if stored is None:
        return None
    try:
        return parse_limits(stored)
    except LaunchError:
        return None


_THROUGH_EVERY_NODE = (
    *("bcast", "reduce", "allreduce", "allreduce5", "allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw"),
    *("reduce_scatter", "reduce_scatter_block", "barrier"),
)
"""Elsewhere the bytes pass the root's link, or one pair's, which need not be the slowest."""


def slowest_of(study: StudyData, nodes: int) -> Slowest | None:
    """Of the first `nodes` nodes, which a study of so many uses; None where the fabric is not known."""
    if study.fabric is None or nodes < 2:
        return None
    return slowest(study.fabric, [node.host for node in study.machine.nodes[:nodes]])


def _on_the_fabric(limits: Limits, found: Slowest) -> Limits:
    """With the slowest node's link instead of the first two nodes'. What several pairs of ranks carry more than one,
    they are taken to carry more everywhere."""
    rates = limits.link.bandwidth if limits.link is not None else []
    one = max((rate.gbps_one for rate in rates), default=0.0)
    more = max(1.0, max((rate.gbps_all for rate in rates), default=0.0) / one) if one else 1.0
    rate = Rate(bytes=1, gbps_one=found.rate / 1e9, gbps_all=found.rate / 1e9 * more)
    return limits.model_copy(update={"link": Link(latency_ns=found.latency * 1e9, bandwidth=[rate])})


def floors(study: StudyData, case: Case, sizes: Sequence[int]) -> dict[int, float]:
    """Message size -> seconds below which no algorithm can get; sizes that nothing bounds are left out."""
    limits = limits_of(study, case.nodes, case.ppn)
    if limits is None:
        return {}
    if case.collective in _THROUGH_EVERY_NODE and (slow := slowest_of(study, case.nodes)) is not None:
        limits = _on_the_fabric(limits, slow)
    found = {size: floor(limits, case.collective, case.nodes, case.ppn, size) for size in sizes}
    return {size: seconds for size, seconds in found.items() if seconds is not None}
