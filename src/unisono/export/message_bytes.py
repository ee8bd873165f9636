"""How coll/tuned counts the bytes of a call when it looks up a rule.

Read in `coll_tuned_decision_dynamic.c` (4.1 and 5.0) and found the same by tripwires in a rules file on 4.1.4 and
5.0.11 (tests/export/test_check_mpi.py): it is not the message size that users and benchmarks speak of.
"""

from __future__ import annotations

from unisono.core.by_size import ROOT_DISAGREES, WITHOUT_SIZE
from unisono.core.errors import UserError
from unisono.core.language import _

_VECTOR = ("allreduce", "reduce", "reduce_scatter", "bcast", "allgatherv")
"""type x count; reduce_scatter: of the whole vector; allgatherv: the mean contribution, total / ranks."""

_TIMES_RANKS = ("allgather", "alltoall", "gather", "scatter", "reduce_scatter_block")
"""type x count x ranks."""

_ALL_ALIKE = ("alltoallv", "barrier")
"""One rule for all sizes."""

ONE_RULE = (*WITHOUT_SIZE, *ROOT_DISAGREES)


def message_bytes(collective: str, size: int, ranks: int) -> int:
    """What coll/tuned compares with a rule's bytes, for a message size as IMB counts it. UserError: no such rules."""
    if collective in _ALL_ALIKE:
        return 0
    if collective in _VECTOR:
        return size
    if collective in _TIMES_RANKS:
        return size * ranks
    raise UserError(_("{collective}: coll/tuned has no rules for it").format(collective=collective))


def has_rules(collective: str) -> bool:
    return collective in (*_ALL_ALIKE, *_VECTOR, *_TIMES_RANKS)
