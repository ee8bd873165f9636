"""How the cost of a collective grows: a number of starts and a number of bytes, by algorithm where that is known.

P ranks; the starts and bytes are those of the longest path: the rank that sends or receives most, step by step (Thakur,
Rabenseifner, Gropp, "Optimization of collective communication operations in MPICH", 2005; Chan et al., "Collective
communication: theory, practice, and experience", 2007).

Where the nodes share their CPUs (a virtual cluster), no rank waits for a network: the CPUs send and receive whatever
all ranks send, one message after another. Starts and bytes are then those of all ranks together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

BLOCKS = (
    "allgather",
    "allgatherv",
    "alltoall",
    "alltoallv",
    "alltoallw",
    "gather",
    "scatter",
    "reduce_scatter_block",
)
"""Collectives whose message size is that of a pair: every rank has P of them."""

STARTS = ("log", "ranks")
BYTES = ("share", "log", "ranks")
MESSAGES = ("vector", "block")


@dataclass(frozen=True, slots=True)
class Growth:
    """One way of growing with the number of ranks."""

    starts: str
    """"log": ceil(log2 P); "ranks": P - 1."""
    bytes: str
    """Of the whole vector of n bytes: "share": n (P - 1) / P; "log": n log2 P; "ranks": n (P - 1)."""
    message: str
    """The size of the messages sent, by which protocols change: "vector" (n) or "block" (n / P)."""
    shared: bool = False
    """Whether the nodes share their CPUs, so that all ranks' starts and bytes count."""

    def starts_of(self, collective: str, ranks: int) -> float:
        steps = float(math.ceil(math.log2(ranks))) if self.starts == "log" else ranks - 1.0
        if not self.shared:
            return steps
        return ranks - 1.0 if self._is_one_tree(collective) else ranks * steps

    def bytes_of(self, collective: str, size: int, ranks: int) -> float:
        total = total_of(collective, size, ranks)
        if self.shared and self._is_one_tree(collective):
            return total * (ranks - 1)
        if self.bytes == "share":
            moved = total * (ranks - 1) / ranks
        else:
            moved = total * (math.ceil(math.log2(ranks)) if self.bytes == "log" else ranks - 1)
        return moved * ranks if self.shared else moved

    def vector_of(self, collective: str, size: int, ranks: int) -> float:
        """Bytes that are read or combined whatever is sent."""
        return total_of(collective, size, ranks) * (ranks if self.shared else 1)

    @property
    def is_chain(self) -> bool:
        """Whether the whole vector is passed on from rank to rank; a ring leaves out a rank's own block."""
        return (self.starts, self.bytes, self.message) == ("ranks", "share", "vector")

    def _is_one_tree(self, collective: str) -> bool:
        """Whether each rank but the root has one message to get or to give; else every rank sends in every step."""
        if collective in ("gather", "scatter"):
            return True
        whole = self.bytes != "share" or self.is_chain
        return whole and (collective in ("bcast", "reduce") or self.starts == "ranks")

    def message_of(self, collective: str, size: int, ranks: int) -> float:
        total = total_of(collective, size, ranks)
        return total if self.message == "vector" else total / ranks


EVERY = tuple(Growth(starts, moved, message) for starts in STARTS for moved in BYTES for message in MESSAGES)

TREE = Growth("log", "log", "vector")
"""The whole vector in every step: binomial trees, recursive doubling of an allreduce."""
HALVES = Growth("log", "share", "vector")
"""A part of the vector in every step, as many steps as a tree has: Rabenseifner's, recursive halving."""
RING = Growth("ranks", "share", "block")
"""A block in every step: rings, pairwise exchanges, everything from one rank to each."""
FLAT = Growth("ranks", "ranks", "vector")
"""The whole vector from or to each rank, one after another."""

CHAIN = Growth("ranks", "share", "vector")
"""The whole vector from each rank to the next, in pieces."""

_BY_NAME = (
    ("scatter_allgather_ring", RING),
    ("scatter_allgather", HALVES),
    ("rabenseifner", HALVES),
    ("recursive_halving", HALVES),
    ("recursive_doubling", TREE),
    ("recursive_multiplying", TREE),
    ("nonoverlapping", TREE),
    ("reduce_bcast", TREE),
    ("ring", RING),
    ("neighbor", RING),
    ("pairwise", RING),
    ("spread", RING),
    ("bruck", TREE),
    ("sparbit", HALVES),
    ("binomial", TREE),
    ("knomial", TREE),
    ("in_order", TREE),
    ("binary", Growth("log", "share", "vector")),
    ("chain", CHAIN),
    ("pipeline", CHAIN),
    ("linear", FLAT),
    ("tree", TREE),
)


def total_of(collective: str, size: int, ranks: int) -> float:
    """Bytes of the longer buffer of a rank, from a message size as it is counted everywhere."""
    return float(size * ranks if collective in BLOCKS else size)


def known(collective: str, algorithm: str, *, shared: bool = False) -> Growth:
    """How an algorithm grows, by its name; what no name tells grows as the best do: in steps of a tree, moving each
    byte once. `shared`: see Growth."""
    return replace(_by_name(collective, algorithm), shared=shared)


def _by_name(collective: str, algorithm: str) -> Growth:
    if collective in ("allgather", "allgatherv") and algorithm == "lanes":
        return RING  # of nodes; other collectives' lanes halve or multiply
    for part, growth in _BY_NAME:
        if part in algorithm:
            if collective in BLOCKS and growth is FLAT:
                return RING  # each pair has a block of its own
            if collective in ("allgather", "allgatherv", "gather", "scatter") and growth is TREE:
                return HALVES  # blocks are gathered or spread on the way
            return growth
    return HALVES
