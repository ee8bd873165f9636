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
TRIED = [name for name in BLOCKING if parted(name)[0] in COLLECTIVES and not name.endswith("_ordered")]
PLACES = {
    "one node": {},
    "domains": {"UNISONO_FAKE_NUMA": "3,1/2,1"},
    "two nodes": {"UNISONO_FAKE_NODES": "4", "UNISONO_TOPOLOGY": "grid 2 torus"},
    "eight nodes": {"UNISONO_FAKE_NODES": "1", "UNISONO_TOPOLOGY": "grid 4x2 torus"},
    "uneven nodes": {"UNISONO_FAKE_NODES": "2,1", "UNISONO_TOPOLOGY": "grid 5 torus"},
    "groups": {
        "UNISONO_FAKE_NODES": "1",
        "UNISONO_TOPOLOGY": "SwitchName=a Nodes=%[0,3,6]\nSwitchName=b Nodes=%[1,2,4,5,7]",
    },
}
"""Variables of the library; a topology is what its file has."""
SHORT = {"inline": 1, "groups": 8}
"""Elements for each rank, of what serves no long messages."""
COSTS = "node_latency 1e-7 node_byte 1e-10 fabric_latency 2e-6 fabric_byte 1e-10 fabric_message 1e-7"
"""With which the longest messages are of several pieces."""


def served(error: str) -> set[str]:
    found = re.findall(r"unisono: +(\w+) +\S+ +unisono/(\w+) +\d+$", error, re.MULTILINE)
    return {f"{collective}_{name}" for collective, name in found}


def lines_and_served(place: dict[str, str], folder: Path, counts: dict[str, int]) -> tuple[list[str], set[str]]:
    tools = toolchain("openmpi5")
    program, rules, topology = compiled(tools, folder, str(PROGRAM)), folder / "rules", folder / "topology"
    lines = ["unisono-rules 1", f"cost {COSTS}"]
    for collective, name in map(parted, TRIED):
        size = 4 * counts[name] // (RANKS if collective == "reduce_scatter_block" else 1)
        lines.append(f"{collective} * * {size} {size} unisono/{name}")
    rules.write_text("\n".join((*lines, "")))
    env = {**place, "UNISONO_RULES": str(rules), "UNISONO_VERBOSE": "1", "UNISONO_PATIENCE": "0"}
    if "UNISONO_TOPOLOGY" in place:
        topology.write_text(place["UNISONO_TOPOLOGY"] + "\n")
        env["UNISONO_TOPOLOGY"] = str(topology)
    ran = run(tools, folder, program, *map(str, counts.values()), ranks=RANKS, env=env, record=False)
    said = ran.out.splitlines()
    assert ran.status == 0 and len(said) == len(counts) * len(COLLECTIVES), ran.out + ran.error
    return said, served(ran.error)


def test_late_ranks_change_no_sum(tmp_path: Path) -> None:
    names = sorted({parted(name)[1] for name in TRIED})
    counts = {name: RANKS * SHORT.get(name, 1200 + 100 * i) for i, name in enumerate(names)}
    known: set[str] = set()
    for place in PLACES.values():
        said, those = lines_and_served(place, tmp_path, counts)
        assert not [line for line in said if not line.endswith(" same")], place
        known |= those
    assert set(TRIED) <= known, "some served nowhere"
