"""The wait for nonblocking and persistent collectives, counted with the calls that began them, or made their requests,
instead of those that started or completed them."""

from __future__ import annotations

import numpy as np

from unisono.profile.recorded import COMPLETING, STARTING, Cells, Profile


def with_waits(profile: Profile) -> Cells:
    """The rows of MPI calls: the `time` of a nonblocking collective with the wait for it, of a persistent one with its
    starts, too, and that of a call which starts or completes requests without these. Their sum stays what it is."""
    rows = profile.mpi_rows
    known = ~np.isnan(rows["completion"])
    if not known.any():
        return rows
    ends = np.asarray([name in COMPLETING | STARTING for name in profile.functions])[rows["function"]]
    moved = np.where(known, rows["completion"], 0.0)
    rows["time"] = np.maximum(rows["time"] + np.where(ends, -moved, moved), 0.0)
    rows["waiting"] = np.minimum(rows["waiting"], rows["time"])  # NaN stays so
    return rows
