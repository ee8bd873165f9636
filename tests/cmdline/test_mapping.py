"""Our words against mpirun's own mapper, on machines that are not here, and against real ranks on this one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.launch.conftest import Installed
from tests.launch.machines import machine, mapped, open_mpi
from unisono.cmdline.placement import check, place
from unisono.launch.process import run
from unisono.mpi.openmpi import placing

E5_192 = (2, 4, 24)
OPTIMIZED_36 = (2, 1, 18)
SMALL = (2, 2, 3)

CASES = [
    (E5_192, 1, 24, "block", {}),
    (E5_192, 1, 192, "cyclic", {}),
    (OPTIMIZED_36, 1, 32, "block", {}),
    (OPTIMIZED_36, 1, 32, "cyclic", {}),
    (SMALL, 4, 8, "cyclic", {}),
    (SMALL, 4, 8, "block", {}),
    (SMALL, 1, 1, "block", {}),
    (SMALL, 1, 7, "cyclic", {}),
    (SMALL, 1, 8, "block:l3", {}),
    (SMALL, 1, 5, "block:node", {}),
    (SMALL, 3, 4, "cyclic:node", {}),
    (SMALL, 3, 4, "cyclic:socket", {}),
    (SMALL, 1, 8, "cyclic", {"smt": 2}),
    (SMALL, 1, 8, "cyclic:socket", {"in_turn": True}),
    (SMALL, 2, 8, "cyclic", {"in_turn": True, "smt": 2}),
]
ONLY_5 = [
    (OPTIMIZED_36, 8, 32, "cyclic", {}),  # Open MPI 4 now and then fails to print as large a map of its simulator
    (SMALL, 1, 7, "block", {"in_turn": True}),  # needs a rank file in Open MPI 4, which its simulator does not take
    (SMALL, 1, 20, "block", {"smt": 2}),
    (SMALL, 1, 20, "cyclic", {"smt": 2}),
    (SMALL, 1, 24, "block:socket", {"smt": 2, "in_turn": True}),
    (SMALL, 2, 14, "cyclic:node", {"smt": 2}),
]


def _ids(case: object) -> str:
    return str(case).replace(" ", "") if isinstance(case, tuple) else str(case)


@pytest.mark.mpi
@pytest.mark.beside
@pytest.mark.parametrize(("shape", "nodes", "ppn", "policy", "kind"), CASES + ONLY_5, ids=_ids)
def test_mpirun_maps_as_computed(
    installed: Installed, shape: tuple[int, int, int], nodes: int, ppn: int, policy: str, kind: dict[str, int]
) -> None:
    five = installed.version.startswith("5")
    if not five and (shape, nodes, ppn, policy, kind) in ONLY_5:
        pytest.skip("Open MPI 4 has no words for it, or cannot simulate it")
    mpi = open_mpi(installed.version, installed.mpirun)
    here = machine(*shape, nodes=nodes, mpi=mpi, smt=kind.get("smt", 1), in_turn=bool(kind.get("in_turn")))
    placement = place(here, nodes, ppn, policy)
    found = mapped(here, nodes, nodes * ppn, placement.arguments(mpi))
    assert found == [(rank.node_index, rank.cpus) for rank in placement.ranks]


@pytest.mark.mpi
@pytest.mark.beside
@pytest.mark.parametrize("policy", ["block", "cyclic", "block:l3", "cyclic:socket", "block:node", "cyclic:node"])
def test_ranks_are_where_they_should_be(installed: Installed, policy: str) -> None:
    ppn = min(2, installed.machine.cores)
    placement = place(installed.machine, 1, ppn, policy)
    assert installed.machine.mpi is not None
    assert check(placement, _where(installed, ppn, placement.arguments(installed.machine.mpi))) is None


@pytest.mark.mpi
@pytest.mark.beside
def test_ranks_beyond_the_cpus_are_not_bound(installed: Installed) -> None:
    ppn = len(installed.machine.cpus) + 1
    placement = place(installed.machine, 1, ppn, "cyclic:node", oversubscribe=True)
    assert installed.machine.mpi is not None
    assert check(placement, _where(installed, ppn, placement.arguments(installed.machine.mpi))) is None


@pytest.mark.mpi
@pytest.mark.beside
def test_a_rank_file_places_ranks_one_by_one(installed: Installed) -> None:
    """The reverse of block, which no other words of Open MPI 4 can say."""
    if installed.version.startswith("5"):
        pytest.skip("Open MPI 5 has ordered lists for this")
    if installed.machine.cores < 2:
        pytest.skip("needs two cores")
    block = place(installed.machine, 1, 2, "block")
    reverse = replace(block, slots=block.slots[::-1], ranks=block.ranks[::-1], per_domain=None)
    assert installed.machine.mpi is not None
    words = reverse.arguments(installed.machine.mpi, [installed.machine.name])
    assert words[0] == "--rankfile"
    assert check(reverse, _where(installed, 2, words)) is None


def test_a_rank_file_counts_cores_within_sockets() -> None:
    placement = place(machine(2, 2, 2, nodes=2), 2, 3, "block")
    text = placing.rankfile(placement, ["a", "b"])
    assert text.splitlines() == [
        *("rank 0=a slot=0:0", "rank 1=a slot=0:2", "rank 2=a slot=1:0"),
        *("rank 3=b slot=0:0", "rank 4=b slot=0:2", "rank 5=b slot=1:0"),
    ]


def _where(installed: Installed, ranks: int, words: list[str]) -> list[dict[str, object]]:
    done = run(installed.argv("-n", str(ranks), *words, installed.program), {}, 60)
    assert done.exit_code == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith("where ")]
    return [
        {"rank": int(rank), "host": host, "node": int(node), "cpus": [int(cpu) for cpu in cpus.split(",")]}
        for _, rank, host, node, cpus in rows
    ]
