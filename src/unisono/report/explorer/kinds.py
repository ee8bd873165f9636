"""What sort of thing a node of the call tree is: the program's own code, or a class of MPI functions.

The classes are the chapters of the MPI standard as far as they matter to a reader of times: who waits for whom.
"""

from __future__ import annotations

import re

KINDS = ("program", "collective", "point-to-point", "completion", "one-sided", "other")
PROGRAM, COLLECTIVE, POINT_TO_POINT, COMPLETION, ONE_SIDED, OTHER = range(len(KINDS))

_COLLECTIVE = re.compile(
    r"(neighbor_)?i?(neighbor_)?"
    r"(allgather|allreduce|alltoall|barrier|bcast|exscan|gather|reduce|reduce_scatter|reduce_scatter_block|scan|scatter)"
    r"[vw]?(_init)?"
)
_POINT_TO_POINT = re.compile(
    r"i?[bsr]?send(_init)?|i?m?recv(_init)?|i?sendrecv(_replace)?|p(send|recv)_init|i?m?probe|start(all)?|pready.*"
)
_COMPLETION = re.compile(r"(wait|test)(all|any|some)?|request_get_status|parrived")
_ONE_SIDED = re.compile(r"win_.*|r?(put|get|accumulate|get_accumulate)|fetch_and_op|compare_and_swap")


def kind_of(function: str) -> int:
    """The class of an MPI function by its C name; PROGRAM for ""."""
    if not function:
        return PROGRAM
    name = function.removeprefix("MPI_").removesuffix("_c").lower()
    for kind, pattern in (
        (COLLECTIVE, _COLLECTIVE),
        (POINT_TO_POINT, _POINT_TO_POINT),
        (COMPLETION, _COMPLETION),
        (ONE_SIDED, _ONE_SIDED),
    ):
        if pattern.fullmatch(name):
            return kind
    return OTHER
