"""How the cost of a collective grows: a number of starts and a number of bytes, by algorithm where that is known.

P ranks; the starts and bytes are those of the longest path: the rank that sends or receives most, step by step (Thakur,
Rabenseifner, Gropp, "Optimization of collective communication operations in MPICH", 2005; Chan et al., "Collective
communication: theory, practice, and experience", 2007).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

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

    def starts_of(self, ranks: int) -> float:
        return float(math.ceil(math.log2(ranks))) if self.starts == "log" else ranks - 1.0

    def bytes_of(self, collective: str, size: int, ranks: int) -> float:
        total = total_of(collective, size, ranks)
        if self.bytes == "share":
            return total * (ranks - 1) / ranks
        return total * (math.ceil(math.log2(ranks)) if self.bytes == "log" else ranks - 1)

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


def known(collective: str, algorithm: str) -> Growth:
    """How an algorithm grows, by its name; what no name tells grows as the best do: in steps of a tree, moving each
    byte once."""
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
