"""Rules drawn at random: who serves changes with the size, among ours, components of the MPI and the MPI itself."""

from __future__ import annotations

import random
from collections import defaultdict

from unisono.library.algorithms import rows

_WITHOUT_SIZE = ("barrier", "alltoallv", "alltoallw", "gatherv", "scatterv", "neighbor_")
_CUTS = [8, 32, 64, 128, 384, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 1 << 20]
_SHORT = 64
"""Bytes that go inside a line of shared memory: `inline`, which nothing longer may be given to."""
_COMPONENTS = {"openmpi5": ["tuned", "basic", "adapt"]}
_MISALIGNED = ("reduce", "adapt")
"""Open MPI 5.0.11's gives a function of the program operands that are not aligned as malloc's memory is: one that adds
__float128 ends in SIGSEGV, called from ompi_coll_adapt_ireduce."""
_ANYWHERE = "* *"


def _algorithms() -> dict[str, list[str]]:
    """Collective -> names of ours, without it. Some collectives' names begin with another's: the longest counts."""
    table = rows()
    collectives = {name.removesuffix("_posted")[1:] for name in table if name.startswith("i") and "_posted" in name}
    collectives |= {f"i{collective}" for collective in collectives}
    found: dict[str, list[str]] = defaultdict(list)
    for name in table:
        collective = max((one for one in collectives if name.startswith(f"{one}_")), key=len)
        found[collective].append(name.removeprefix(f"{collective}_"))
    return found


def _words(draw: random.Random, names: list[str], components: list[str], most: int) -> str:
    if draw.random() < 0.2:
        return "mpi"
    ours = [f"unisono/{name}" for name in draw.sample(names, min(len(names), 3))]
    if most <= _SHORT and "inline" in names and draw.random() < 0.9:
        ours.insert(0, "unisono/inline")
    if components and draw.random() < 0.1:
        ours.insert(0, draw.choice(components))
    return ",".join([*dict.fromkeys(ours), *(["mpi"] if draw.random() < 0.8 else [])])


def drawn_rules(seed: int, mpi: str) -> str:
    """The text of a rules file."""
    draw = random.Random(seed)
    lines = ["unisono-rules 1"]
    for collective, names in sorted(_algorithms().items()):
        components = [one for one in _COMPONENTS.get(mpi, []) if (collective, one) != _MISALIGNED]
        sized = not collective.removeprefix("i").startswith(_WITHOUT_SIZE)
        ends = sorted(draw.sample(_CUTS, draw.randint(3, 6))) if sized else []
        begin = 0
        for end in [*ends, None]:
            words = _words(draw, names, components if sized and "posted" not in names else [], end or 1 << 30)
            lines.append(f"{collective} {_ANYWHERE} {begin} {end or 'max'} {words}")
            begin = (end or 0) + 1
    return "\n".join(lines) + "\n"
