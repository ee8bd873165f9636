"""How long a study will take, before it runs: for --dry-run, the progress bar and the budget."""

from __future__ import annotations

from unisono.study.config import Study
from unisono.study.engine import Task

RACE_LAUNCHES = 6.5
RACE_SAMPLES = 4.5
"""Launches and samples of a race, in those of its first round (quick and search-cost on a 2-core VM)."""

_START = 0.4
"""Seconds to start and stop an mpirun of two ranks; measured 0.2 to 1.2 with Open MPI 5 on two cores."""

_START_PER_RANK = 0.01
_WARM_UP = 1.3
"""Warm-up, result check and rotation of buffers take this much on top of the timed repetitions."""

_REPETITION = 15e-6
"""Seconds of a repetition of a short message: nearly all of it is agreeing on the next start."""

_BYTES_PER_SECOND = 3e9
"""What one rank moves when all move at once: a cautious figure for one core's share of memory bandwidth."""


def sample_seconds(study: Study, collective: str, ranks: int, size: int) -> float:
    """One sample: the time asked for, within the fewest and the most repetitions."""
    per_pair = collective in ("alltoall", "alltoallv", "alltoallw", "allgather", "allgatherv", "reduce_scatter_block")
    moved = size * ranks if per_pair else 2 * size
    each = moved / _BYTES_PER_SECOND + _REPETITION
    seconds, fewest, most = study.measuring.repetitions(size)
    return min(max(seconds, fewest * each), most * each) * _WARM_UP


def start_seconds(ranks: int) -> float:
    """To start and stop a launch."""
    return _START + _START_PER_RANK * ranks


def work_seconds(study: Study, task: Task) -> float:
    """To measure everything in one launch."""
    ranks = task.nodes * task.ppn
    return sum(len(i.settings) * sample_seconds(study, i.case.collective, ranks, i.size) for i in task.items)
