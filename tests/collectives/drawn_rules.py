"""Rules drawn at random: who serves changes with the size, among ours, components of the MPI and the MPI itself."""

from __future__ import annotations

import random
from collections import defaultdict

from unisono.library.algorithms import rows

_WITHOUT_SIZE = ("barrier", "alltoallv", "alltoallw", "gatherv", "scatterv", "neighbor_")
_CUTS = [8, 32, 64, 128, 384, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 1 << 20]
_SHORT = 64
"""Bytes that go inside a line of shared memory: `inline`, which nothing longer may be given to."""
_COMPONENTS = {"openmpi5": ["tuned", "basic", "adapt", "han", "sm", "sync", "libnbc"]}
_ALGORITHMS = {
    "openmpi5": {
        "tuned": {
            "allgather": "linear bruck recursive_doubling ring neighbor",
            "allgatherv": "default bruck ring neighbor sparbit",
            "allreduce": "basic_linear nonoverlapping recursive_doubling ring segmented_ring rabenseifner",
            "alltoall": "linear pairwise modified_bruck linear_sync",
            "alltoallv": "basic_linear pairwise",
            "barrier": "linear double_ring recursive_doubling bruck tree",
            "bcast": "basic_linear chain pipeline split_binary_tree binary_tree binomial knomial scatter_allgather "
            "scatter_allgather_ring",
            "exscan": "linear recursive_doubling",
            "gather": "basic_linear binomial linear_sync",
            "reduce": "linear chain pipeline binary binomial in-order_binary rabenseifner",
            "reduce_scatter": "non-overlapping recursive_halving ring butterfly",
            "reduce_scatter_block": "basic_linear recursive_doubling recursive_halving butterfly",
            "scan": "linear recursive_doubling",
            "scatter": "basic_linear binomial linear_nb",
        },
        "libnbc": {
            "iallgather": "linear recursive_doubling",
            "iallreduce": "ring binomial rabenseifner recursive_doubling",
            "ibcast": "linear binomial chain knomial",
            "iexscan": "linear recursive_doubling",
            "ireduce": "chain binomial rabenseifner",
            "iscan": "linear recursive_doubling",
        },
    }
}
"""Those of the MPI that a rule may name, but for those of two ranks alone, and for an allgather's sparbit, whose result
is wrong in place and from datatypes with gaps (5.0.11, without the library too)."""
_SEGMENTS = ["", "", ":1024", ":4096"]
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


def _of_the_mpi(collective: str, mpi: str) -> list[str]:
    """Words for what the MPI may be told to take."""
    named = _ALGORITHMS.get(mpi, {})
    found = [f"{one}/{name}" for one, of in named.items() for name in of.get(collective, "").split()]
    return [*([] if collective.startswith(("i", "neighbor_")) else _COMPONENTS.get(mpi, [])), *found]


def _words(draw: random.Random, names: list[str], theirs: list[str], most: int) -> str:
    if draw.random() < 0.2:
        return "mpi"
    ours = [f"unisono/{name}" for name in draw.sample(names, min(len(names), 3))]
    if most <= _SHORT and "inline" in names and draw.random() < 0.9:
        ours.insert(0, "unisono/inline")
    if theirs and draw.random() < 0.2:
        word = draw.choice(theirs)
        ours.insert(0, word + (draw.choice(_SEGMENTS) if word.startswith("tuned/") else ""))
    return ",".join([*dict.fromkeys(ours), *(["mpi"] if draw.random() < 0.8 else [])])


def takes_misaligned(rules: str) -> bool:
    """Whether the MPI may give functions of the program operands that are not aligned as malloc's memory is: Open MPI's
    coll/adapt does so in its reduce, by itself too, from some segments on (`--mca coll_adapt_priority 100`)."""
    return any(line.startswith(("reduce ", "allreduce ")) and "adapt" in line for line in rules.splitlines())


def drawn_rules(seed: int, mpi: str) -> str:
    """The text of a rules file."""
    draw = random.Random(seed)
    lines = ["unisono-rules 1"]
    for collective, names in sorted(_algorithms().items()):
        theirs = _of_the_mpi(collective, mpi)
        sized = not collective.removeprefix("i").startswith(_WITHOUT_SIZE)
        ends = sorted(draw.sample(_CUTS, draw.randint(3, 6))) if sized else []
        begin = 0
        for end in [*ends, None]:
            words = _words(draw, names, theirs, end or 1 << 30)
            lines.append(f"{collective} {_ANYWHERE} {begin} {end or 'max'} {words}")
            begin = (end or 0) + 1
    return "\n".join(lines) + "\n"
