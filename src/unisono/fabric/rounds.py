"""Which nodes are paired: O(N log N) pairs in rounds, in each of which every node is in one pair at most."""

from __future__ import annotations

Pair = tuple[int, int]

_ALL_UP_TO = 8
"""So many nodes are all paired with all others."""


def rounds(nodes: int) -> list[list[Pair]]:
    """All pairs of few nodes; of many, 2 log2 N rounds at most, in which no pair comes twice.

    Half of these rounds pair each node with the next, the second next, the fourth next ... as hosts are listed, which
    finds the switches; the other half are rounds of a tournament (circle method), spread evenly over all of them.
    """
    if nodes < 2:
        return []
    seats = nodes + nodes % 2
    if nodes <= _ALL_UP_TO:
        return [_round(nodes, seats, number) for number in range(seats - 1)]
    steps = (nodes - 1).bit_length()
    found = [[(i, i ^ 1 << step) for i in range(nodes) if i < i ^ 1 << step < nodes] for step in range(steps)]
    known = {pair for pairs in found for pair in pairs}
    spread = [_round(nodes, seats, i * (seats - 1) // steps) for i in range(steps)]
    return found + [[pair for pair in pairs if pair not in known] for pairs in spread]


def _round(nodes: int, seats: int, number: int) -> list[Pair]:
    """The one that sits still meets whom the circle would pair with itself."""
    circle = seats - 1
    pairs = []
    for a in range(circle):
        b = (number - a) % circle
        if a <= b:
            pairs.append((a, b if a != b else seats - 1))
    return [pair for pair in pairs if pair[1] < nodes]
