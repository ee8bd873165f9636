"""What messages take longer because those of other ranks go over the same links: between switches of a tapered fat
tree, between groups of a dragonfly, along a ring of a torus.

Times that were measured inside one group tell nothing of the links between groups. The links themselves do: each step
of an algorithm sends so many bytes over the fullest of them, which its bandwidth bounds. Only what is beyond the bytes
of the fullest node counts here, as those are in every law of growth (`terms`).

Steps are those of the algorithms' papers (Thakur, Rabenseifner, Gropp 2005; Bruck et al. 1997), ranks in the order of
their nodes. In binomial trees, chains and rings two groups have at most a message at a time for one another, so nothing
is added.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from unisono.core.vocabulary import UNISONO, Setting
from unisono.extrapolate.terms import total_of

Ranks = NDArray[np.int64]
Step = tuple[list[Ranks], float]
"""Receivers of all ranks' messages that are sent at once, one array for each; the share of all bytes in each message.
A receiver that is not there (below 0) gets none."""
Steps = Callable[[int], Iterator[Step]]

RADIX = 4
"""What recursive multiplying multiplies by, where it may choose."""
_DISTANCES = 256
_BINE_LEAST, _BINE_CIRCLE = 4, 16


def _partners(ranks: int, distance: int, radix: int = 2) -> list[Ranks]:
    """Those whose digit of this distance is another one."""
    own = np.arange(ranks)
    digit = own // distance % radix
    found = [own + ((digit + n) % radix - digit) * distance for n in range(1, radix)]
    return [np.where(there < ranks, there, -1) for there in found]


def _distances(ranks: int, radix: int = 2) -> list[int]:
    levels = math.ceil(math.log(ranks) / math.log(radix) - 1e-9)
    return [radix**level for level in range(levels)]


def _doubling(ranks: int, radix: int = 2) -> Iterator[Step]:
    """All bytes to each partner."""
    for distance in _distances(ranks, radix):
        yield _partners(ranks, distance, radix), 1.0


def _growing(ranks: int) -> Iterator[Step]:
    """An allgather: whatever has been gathered, to partners further and further away."""
    for distance in _distances(ranks):
        yield _partners(ranks, distance), distance / ranks


def _far(ranks: int, radix: int = 2) -> Iterator[Step]:
    """An allgather that begins with the farthest."""
    for level, distance in enumerate(reversed(_distances(ranks, radix))):
        yield _partners(ranks, distance, radix), float(radix) ** level / ranks


def _binary(ranks: int) -> Iterator[Step]:
    """A bcast: from each rank of a level to its two children in breadth-first order."""
    own = np.arange(ranks)
    for level in range(ranks.bit_length()):
        sends = (own + 1 >= 1 << level) & (own + 1 < 2 << level)
        children = [2 * own + 1, 2 * own + 2]
        yield [np.where(sends & (child < ranks), child, -1) for child in children], 1.0


def _circulant(ranks: int) -> Iterator[Step]:
    """A bcast: an equal share of the blocks to each skip of the graph, and none to the root."""
    skips = [ranks]
    while skips[-1] > 1:
        skips.append((skips[-1] + 1) // 2)
    for skip in skips[1:]:
        there = (np.arange(ranks) + skip) % ranks
        yield [np.where(there > 0, there, -1)], 1 / (len(skips) - 1)


def _circulant_back(ranks: int) -> Iterator[Step]:
    """A reduce: the same messages the other way, the last ones first."""
    for [there], share in reversed(list(_circulant(ranks))):
        senders = np.flatnonzero(there >= 0)
        back = np.full(ranks, -1)
        back[there[senders]] = senders
        yield [back], share


def _halving(ranks: int, radix: int = 2) -> Iterator[Step]:
    """An allreduce: parts of the vector, the largest to the nearest, and the same way back."""
    for distance in _distances(ranks, radix):
        yield _partners(ranks, distance, radix), 2 / (radix * distance)


def _halving_far(ranks: int) -> Iterator[Step]:
    """A reduce_scatter: half of the vector to the farthest."""
    for distance in reversed(_distances(ranks)):
        yield _partners(ranks, distance), distance / ranks


def _halving_near(ranks: int, radix: int = 2) -> Iterator[Step]:
    """A reduce_scatter: the largest parts to the nearest."""
    for distance in _distances(ranks, radix):
        yield _partners(ranks, distance, radix), 1 / (radix * distance)


def _bine_near(ranks: int) -> Iterator[Step]:
    """A reduce_scatter along Bine butterflies, as native/collectives/group/radix.h has them.

    Among as many neighbours as a power of two divides the ranks into, then a circle of the rest; or of a power of two.
    """
    block = ranks & -ranks
    rest = ranks // block
    if block < _BINE_LEAST or rest > _BINE_CIRCLE:
        block, rest = 1 << ranks.bit_length() - 1, 1
    own = np.arange(ranks)
    place = own % block
    for step in range(block.bit_length() - 1):
        distance = (1 - (-2) ** (step + 1)) // 3
        there = own - place + (place + np.where(place % 2 == 0, distance, -distance)) % block
        yield [np.where(own < block * rest, there, -1)], 1 / (2 << step)
    if rest > 1:
        yield _partners(ranks, block, rest), 1 / (rest * block)


def _bine_far(ranks: int) -> Iterator[Step]:
    return reversed(list(_bine_near(ranks)))


def _bine(ranks: int) -> Iterator[Step]:
    """An allreduce: there and back."""
    for receivers, share in _bine_near(ranks):
        yield receivers, 2 * share


def _bruck(ranks: int) -> Iterator[Step]:
    for distance in _distances(ranks):
        yield [(np.arange(ranks) - distance) % ranks], min(distance, ranks - distance) / ranks


def _bruck_of_pairs(ranks: int) -> Iterator[Step]:
    """An alltoall: half of the blocks in every step."""
    for distance in _distances(ranks):
        yield [(np.arange(ranks) + distance) % ranks], 0.5


def _bruck_at_once(ranks: int) -> Iterator[Step]:
    """Ours: blocks go as many strides as a digit of their distance says, all at once."""
    for stride in _distances(ranks, RADIX):
        there = range(stride, min(RADIX * stride, ranks), stride)
        yield [(np.arange(ranks) + distance) % ranks for distance in there], 1 / RADIX


def _pairs(ranks: int) -> Iterator[Step]:
    """A block from each to each, of which so many distances stand for all."""
    distances = np.unique(np.linspace(1, ranks - 1, min(ranks - 1, _DISTANCES)).round().astype(np.int64))
    for distance in distances:
        yield [(np.arange(ranks) + distance) % ranks], (ranks - 1) / len(distances) / ranks


def _multiplying(ranks: int) -> Iterator[Step]:
    return _doubling(ranks, RADIX)


def _far_by_radix(ranks: int) -> Iterator[Step]:
    return _far(ranks, RADIX)


def _dividing_once(ranks: int) -> Iterator[Step]:
    return _halving_near(ranks, RADIX)


def _dividing(ranks: int) -> Iterator[Step]:
    return _halving(ranks, RADIX)


_ALLGATHER: dict[str, Steps] = {
    "recursive_doubling": _growing,
    "flat_doubling": _growing,
    "far": _far,
    "bruck": _bruck,
    "brucks": _bruck,
    "flat_bruck": _bruck,
    "leader": _bruck,
    "leader_multiplying": _far_by_radix,
    "leader_bine": _bine_far,
}
_REDUCE_SCATTER: dict[str, Steps] = {
    "recursive_halving": _halving_far,
    "flat_halving": _halving_far,
    "leader": _halving_far,
    "lanes": _halving_far,
    "near": _halving_near,
    "lanes_dividing": _dividing_once,
    "lanes_bine": _bine_near,
    "pairwise": _pairs,
    "flat_pairwise": _pairs,
}
_ALLTOALL: dict[str, Steps] = {
    **dict.fromkeys(("bruck", "modified_bruck", "brucks"), _bruck_of_pairs),
    "flat_bruck": _bruck_at_once,
    **dict.fromkeys(("linear", "linear_sync", "pairwise", "scattered", "flat_pairwise", "flat_spread"), _pairs),
    # Ours by nodes: the same bytes between two nodes, in fewer messages.
    **dict.fromkeys(("leader", "nodes", "lanes", "paced", "direct", "adaptive"), _pairs),
    **dict.fromkeys(("node_spread", "simple_spread", "double_spread", "dimensions"), _pairs),
}
_STEPS: dict[str, dict[str, Steps]] = {
    "allreduce": {
        **dict.fromkeys(("recursive_doubling", "flat_doubling", "leader", "lanes"), _doubling),
        **dict.fromkeys(("recursive_multiplying", "leader_multiplying"), _multiplying),
        **dict.fromkeys(("rabenseifner", "reduce_scatter_allgather", "flat_halving"), _halving),
        **dict.fromkeys(("leader_halving", "lanes_halving"), _halving),
        **dict.fromkeys(("leader_dividing", "lanes_dividing"), _dividing),
        "leader_bine": _bine,
    },
    "allgather": _ALLGATHER,
    "allgatherv": _ALLGATHER,
    "bcast": {
        **dict.fromkeys(("doubling", "scatter_allgather", "scatter_recursive_doubling_allgather"), _growing),
        **dict.fromkeys(("binary", "binary_tree"), _binary),
        "circulant": _circulant,
    },
    "reduce": {"circulant": _circulant_back},
    "reduce_scatter": _REDUCE_SCATTER,
    "reduce_scatter_block": _REDUCE_SCATTER,
    "alltoall": _ALLTOALL,
    "alltoallv": _ALLTOALL,
}


def steps_of(collective: str, algorithm: str) -> Steps | None:
    """By number of ranks; None where they are not known, or add nothing to any link."""
    return _STEPS.get(collective, {}).get(algorithm)


class Network(Hashable, Protocol):
    """What lies between nodes, as far as messages meet on it."""

    def longer(self, nodes: int, senders: Ranks, receivers: Ranks) -> float:
        """Seconds that the fullest link takes longer than the links of the fullest node, of `nodes` nodes, for messages
        of one byte from node senders[i] to node receivers[i], all at once."""
        ...


@dataclass(frozen=True, slots=True)
class Contention:
    """Of one collective under one setting on a network that is known."""

    network: Network
    collective: str
    setting: Setting

    def seconds(self, size: int, nodes: int, ppn: int) -> float:
        """What all its messages of a size (bytes) take longer on nodes x ppn; 0 where its steps are not known."""
        algorithm = self.setting.get("algorithm", "")
        steps = steps_of(self.collective, algorithm)
        if steps is None or nodes < 2:
            return 0.0
        total = total_of(self.collective, size, nodes * ppn)
        if steps is _pairs:  # whoever sends them, two nodes have as many bytes for one another
            return ppn * total * _by_byte(self.network, steps, nodes, 1)
        by_node = self.setting.get("coll") == UNISONO and not algorithm.startswith("flat_")
        return total * _by_byte(self.network, steps, nodes, 1 if by_node else ppn)


@lru_cache(maxsize=4096)
def _by_byte(network: Network, steps: Steps, nodes: int, sending: int) -> float:
    """Seconds for each byte of all, where so many ranks of each node send."""
    node_of = np.arange(nodes * sending) // sending
    found = 0.0
    for receivers, share in steps(nodes * sending):
        senders = [np.flatnonzero(there >= 0) for there in receivers]
        sent = np.concatenate([node_of[own] for own in senders])
        got = np.concatenate([node_of[there[own]] for own, there in zip(senders, receivers, strict=True)])
        away = sent != got
        if away.any():
            found += share * network.longer(nodes, sent[away], got[away])
    return found
