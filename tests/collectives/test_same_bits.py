"""The same call of the same ranks gives the same bits, whoever comes late: sums of floats depend on their order.

MPI 4.1, 6.9.1, advises this strongly. Every algorithm serves a size of its own, on one node and on several."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.collectives.algorithms import BLOCKING, parted
from tests.profile.interception import compiled, run, toolchain

pytestmark = [pytest.mark.mpi, pytest.mark.beside]

PROGRAM = Path(__file__).parent / "programs" / "same_bits.c"
RANKS = 8
COLLECTIVES = ("reduce", "allreduce", "reduce_scatter_block")
PLACES = {
    "one node": ("", "", {"reduce_cells", "allreduce_slices"}),
    "two nodes": ("4", "2", {"reduce_lanes", "allreduce_lanes_dividing", "reduce_scatter_block_lanes_pat"}),
    "uneven nodes": ("2,1", "5", {"reduce_circulant", "reduce_two_trees", "reduce_leader_postal", "allreduce_ring"}),
}
"""Ranks of each pretended node, the torus that these form, and some of what must have served."""
COSTS = "node_latency 1e-7 node_byte 1e-10 fabric_latency 2e-6 fabric_byte 1e-10 fabric_message 1e-7"
"""With which the longest messages are of several pieces."""


def served(error: str) -> set[str]:
    found = re.findall(r"unisono: +(\w+) +\S+ +unisono/(\w+) +\d+$", error, re.MULTILINE)
    return {f"{collective}_{name}" for collective, name in found}


@pytest.mark.parametrize("place", PLACES)
def test_late_ranks_change_no_sum(place: str, tmp_path: Path) -> None:
    nodes, grid, needed = PLACES[place]
    tools = toolchain("openmpi5")
    program, rules, torus = compiled(tools, tmp_path, str(PROGRAM)), tmp_path / "rules", tmp_path / "torus"
    algorithms = [parted(name) for name in BLOCKING if parted(name)[0] in COLLECTIVES]
    names = sorted({name for _collective, name in algorithms if not name.endswith("_ordered")})
    counts = {name: RANKS * (1200 + 100 * i) for i, name in enumerate(names)}
    torus.write_text(f"grid {grid} torus\n")
    lines = ["unisono-rules 1", f"cost {COSTS}"]
    for collective, name in algorithms:
        if name in counts:
            size = 4 * counts[name] // (RANKS if collective == "reduce_scatter_block" else 1)
            lines.append(f"{collective} * * {size} {size} unisono/{name}")
    rules.write_text("\n".join((*lines, "")))
    env = {"UNISONO_RULES": str(rules), "UNISONO_VERBOSE": "1", "UNISONO_PATIENCE": "0"}
    if nodes:
        env |= {"UNISONO_FAKE_NODES": nodes, "UNISONO_TOPOLOGY": str(torus)}
    ran = run(tools, tmp_path, program, *map(str, counts.values()), ranks=RANKS, env=env, record=False)
    said = ran.out.split("\n")[:-1]
    assert ran.status == 0 and len(said) == len(counts) * len(COLLECTIVES), ran.out + ran.error
    assert needed <= served(ran.error), ran.error
    assert not [line for line in said if not line.endswith(" same")]
