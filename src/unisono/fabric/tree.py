"""The levels of a network, out of latencies: who is near to whom."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.cluster.hierarchy import linkage

from unisono.fabric.effects import polish
from unisono.fabric.measured import Array, Fabric

_LEVEL = 1.4
"""Latencies within this factor are one level."""


@dataclass(frozen=True, slots=True)
class Branch:
    """Nodes that reach one another in `seconds` or less one way; a leaf is one node, with 0 seconds."""

    seconds: float
    nodes: tuple[int, ...]
    branches: tuple[Branch, ...] = ()


def tree(fabric: Fabric) -> Branch:
    """Nodes joined from the nearest pair up (single linkage of measured pairs), without the effects of slow nodes.

    Joins at about the same latency are one branch.
    """
    count = len(fabric.nodes)
    joins = linkage(_distances(fabric), "single")
    branches = [Branch(0.0, (node,)) for node in range(count)]
    for a, b, seconds, _ in joins:
        branches.append(_joined(branches[int(a)], branches[int(b)], float(seconds)))
    return branches[-1]


def _joined(a: Branch, b: Branch, seconds: float) -> Branch:
    parts: list[Branch] = []
    for part in (a, b):
        same_level = part.branches and seconds <= _LEVEL * part.seconds
        parts += part.branches if same_level else (part,)
    lowest = min([seconds, *(part.seconds for part in (a, b) if part.branches and seconds <= _LEVEL * part.seconds)])
    parts.sort(key=lambda part: part.nodes[0])
    return Branch(lowest, tuple(sorted(a.nodes + b.nodes)), tuple(parts))


def _distances(fabric: Fabric) -> Array:
    """Seconds between every two nodes in the best launch, as scipy wants them; pairs that were not measured are the
    farthest."""
    count = len(fabric.nodes)
    times = fabric.latency(fabric.mode)
    own = np.exp(np.median(polish(times, fabric.pairs, count).nodes, axis=0))
    seconds = [quickest / (own[a] * own[b]) for (a, b), quickest in zip(fabric.pairs, times.min(axis=0), strict=True)]
    square = np.full((count, count), 2 * max(seconds))
    for (a, b), value in zip(fabric.pairs, seconds, strict=True):
        square[a, b] = square[b, a] = value
    return square[np.triu_indices(count, 1)]
