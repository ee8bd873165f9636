"""Names of MPICH's variables (MPI_T's, and of its environment), for whoever writes or reads them."""

from __future__ import annotations

BY_NODES = "smp"
"""The algorithm that serves nodes apart from what goes between them, in every collective."""


def algorithm_variable(collective: str) -> str:
    """Names a collective's algorithm; read in every call."""
    return f"MPIR_CVAR_{collective.upper()}_INTRA_ALGORITHM"


def device_variable(collective: str) -> str:
    """Whether the device decides before the algorithm's variable is asked."""
    return f"MPIR_CVAR_{collective.upper()}_DEVICE_COLLECTIVE"
