"""Which collectives and algorithms can be chosen by message size, and which serve all sizes of a collective."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from unisono.core.vocabulary import DISPATCHED, INTEL, LIBNBC, MPICH, NEIGHBOURHOODS, PERSISTENT, blocking

_EACH_ITS_OWN = ("alltoallv", "alltoallw", "barrier", "gatherv", "scatterv", *NEIGHBOURHOODS)
WITHOUT_SIZE = tuple(name for name in DISPATCHED if blocking(name) in _EACH_ITS_OWN)
"""Collectives whose ranks know no size that all of them agree on: whoever chooses call by call has one rule for all."""

ROOT_DISAGREES = ("gather", "scatter")
"""coll/tuned takes the size from the send arguments, which are not significant at the root of a gather in place and on
other ranks of a scatter: they could pick another algorithm and hang, so one rule has to serve all sizes."""


def undivided(collective: str, calls: Iterable[Mapping[str, str]], *, preloaded: bool) -> bool:
    """Whether one of these `calls` has to serve all sizes of a collective: no rank knows a size that all agree on, or,
    where our library does not carry them out (`preloaded`), the MPI's files tell no sizes apart."""
    if collective in WITHOUT_SIZE:
        return True
    by_root = collective in ROOT_DISAGREES
    return not preloaded and any(one_for_all(collective, s) or (by_root and s.get("coll") == "tuned") for s in calls)


SIZED: dict[str, tuple[str, ...]] = {
    MPICH: ("allgather", "allgatherv", "allreduce", "alltoall", "bcast", "reduce", "reduce_scatter_block"),
    INTEL: ("allgather", "allreduce", "alltoall", "bcast", "gather", "reduce", "scatter"),
    LIBNBC: (),
}
"""The collectives whose algorithms these MPIs' files can name by message size; for the others they name one for all."""


def all_or_none(setting: Mapping[str, str]) -> bool:
    """Whether files that name this algorithm for some sizes of a collective have to name one for all sizes: Intel MPI
    then leaves the table that it goes by otherwise."""
    return setting.get("coll") == INTEL


def one_for_all(collective: str, setting: Mapping[str, str]) -> bool:
    """Whether the MPI's files can only name this algorithm for all sizes of the collective."""
    return setting.get("coll") in SIZED and collective not in SIZED[setting["coll"]]


def in_files(collective: str, native: str, forms: Collection[str]) -> bool:
    """Whether files of the MPI can name an algorithm of `native` for a collective. Open MPI has one parameter for a
    nonblocking collective and its persistent form: it is not used where both were measured (`forms`), as what is
    best for one would hold for the other, nor for the persistent form alone. Our library tells them apart."""
    return native != LIBNBC or (collective not in PERSISTENT and f"{blocking(collective)}_init" not in forms)
