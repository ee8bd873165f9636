"""The physical limit of a case, from what the benchmark measured in the same launches."""

from __future__ import annotations

from collections.abc import Sequence

from unisono.errors import LaunchError
from unisono.measure.limits import floor
from unisono.measure.protocol import Limits, parse_limits
from unisono.model import Case
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


def floors(study: StudyData, case: Case, sizes: Sequence[int]) -> dict[int, float]:
    """Message size -> seconds below which no algorithm can get; sizes that nothing bounds are left out."""
    limits = limits_of(study, case.nodes, case.ppn)
    if limits is None:
        return {}
    found = {size: floor(limits, case.collective, case.nodes, case.ppn, size) for size in sizes}
    return {size: seconds for size, seconds in found.items() if seconds is not None}
