"""Placements said to be the same put every rank at the same place, as unisono.launch computes it."""

from __future__ import annotations

from itertools import product

import pytest

from tests.parameters.machines import described, small
from unisono.cmdline.placement import place
from unisono.machine.description import Machine
from unisono.parameters.placements import same_placement

ALL = [f"{order}{level}" for order in ("block", "cyclic") for level in ("", ":socket", ":l3", ":node")]

MACHINES = {
    "one NUMA node": small(nodes=3),
    "two NUMA nodes in a socket": small(numa=2, nodes=3),
    "four in two sockets": small(numa=4, sockets=2, nodes=3),
    "E5": described("BM.Standard.E5.192-nps4"),
    "E5 with NPS1": described("BM.Standard.E5.192-nps1"),
    "Xeon": described("BM.Optimized3.36-nps2"),
}


def _places(machine: Machine, nodes: int, ppn: int, value: str) -> list[tuple[int, tuple[int, ...]]]:
    return [(rank.node_index, rank.cpus) for rank in place(machine, nodes, ppn, value).ranks]


@pytest.mark.parametrize("name", MACHINES)
def test_same_is_same(name: str) -> None:
    machine = MACHINES[name]
    ranks = {1, 2, 3, 4, 7, machine.cores // 2, machine.cores - 1, machine.cores}
    if machine.cores > 100:
        ranks = {8, 24, 48, 192}
    for nodes, ppn in product(range(1, len(machine.nodes) + 1), sorted(ranks - {0})):
        simplest = {value: same_placement(value, machine, nodes, ppn)[0] for value in ALL}
        for value, same in simplest.items():
            assert _places(machine, nodes, ppn, value) == _places(machine, nodes, ppn, same), (value, same, nodes, ppn)
            assert simplest[same] == same
