"""The wait for nonblocking collectives, counted with the calls that began them instead of those that completed them."""

from __future__ import annotations

import numpy as np

from unisono.profile.recorded import COMPLETING, Cells, Profile


def with_waits(profile: Profile) -> Cells:
    """The rows of MPI calls: the `time` of a nonblocking collective with the wait for it, that of a call which
    completes requests without it. Their sum stays what it is."""
    rows = profile.mpi_rows
    known = ~np.isnan(rows["completion"])
    if not known.any():
        return rows
    ends = np.asarray([name in COMPLETING for name in profile.functions])[rows["function"]]
    moved = np.where(known, rows["completion"], 0.0)
    rows["time"] = np.maximum(rows["time"] + np.where(ends, -moved, moved), 0.0)
    rows["waiting"] = np.minimum(rows["waiting"], rows["time"])  # NaN stays so
    return rows
