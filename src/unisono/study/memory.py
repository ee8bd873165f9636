"""How much memory a sample takes, and what the machine has: sizes that do not fit are never tried."""

from __future__ import annotations

from unisono.core.vocabulary import NEIGHBOURHOODS, Case, blocking
from unisono.machine.description import Machine

_RESERVE = 0.2
"""Part of the available memory left alone: the MPI's own buffers, the page cache it lives in, everybody else."""

_POOL = 2
"""Send and receive buffers rotate over two copies each."""


def bytes_per_node(case: Case, size: int) -> int:
    """Send and receive buffers of all ranks of a node for one message size, in bytes, and the check's reference."""
    ranks, local = case.ranks, case.ppn
    per_rank = {
        "allreduce": 2 * size,
        "reduce": 2 * size,
        "scan": 2 * size,
        "exscan": 2 * size,
        "bcast": size,
        "allgather": (ranks + 1) * size,
        "allgatherv": (ranks + 1) * size,
        "alltoall": 2 * ranks * size,
        "alltoallv": 2 * ranks * size,
        "alltoallw": 3 * ranks * size,  # what is sent has gaps as long as itself
        "reduce_scatter": size + size // ranks,
        "reduce_scatter_block": (ranks + 1) * size,
        # The root alone holds everybody's blocks.
        **dict.fromkeys(("gather", "gatherv", "scatter", "scatterv"), size + ranks * size // local),
        **dict.fromkeys(NEIGHBOURHOODS, 12 * size),  # of up to 6 neighbours
        "neighbor_alltoallw": 18 * size,
        "barrier": 0,
        "pingpong": 2 * size,
        "allreduce5": 10 * size,
        "halo26": 2 * min(26, ranks - 1) * size,
        "exchange": 2 * min(26, ranks - 1) * size,  # a program's own may be more: the benchmark itself asks again
    }[blocking(case.collective)]
    return _POOL * local * per_rank


def largest_size(case: Case, machine: Machine, allowance: int | None = None) -> int:
    """The largest message size, in bytes, whose buffers fit in `allowance` bytes of a node, or in what it has free."""
    free = allowance if allowance is not None else int(machine.memory_available_bytes * (1 - _RESERVE))
    unit = bytes_per_node(case, 1 << 20) / (1 << 20)
    return int(free / unit) if unit else 1 << 62
