"""The call tree of a profile: what lies above and below a path."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from unisono.profile.recorded import NO_FUNCTION, Profile


def above_mpi(profile: Profile) -> npt.NDArray[np.bool_]:
    """For every path whether MPI is called there or anywhere below it."""
    above = np.zeros(len(profile.paths), bool)
    above[np.unique(profile.cells["path"][profile.cells["function"] != NO_FUNCTION])] = True
    # children come after their parents, so one sweep from the end reaches the root
    for index in range(len(profile.paths) - 1, 0, -1):
        if above[index]:
            above[profile.paths[index].parent] = True
    return above


def labels(profile: Profile, path: int) -> tuple[str, ...]:
    """The names along a path, the innermost first."""
    return tuple(frame.label for frame in profile.chain(path))
