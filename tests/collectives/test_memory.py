"""What a long message takes beside the program's buffers is bounded, and given back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.profile.interception import compiled, run, toolchain

pytestmark = [pytest.mark.mpi, pytest.mark.beside]
PROGRAM = Path(__file__).parent / "programs" / "memory.c"
MIB = 64
BOUND, IN_PLACE, KEPT = 16, 32, 18
"""MiB, as native/collectives/README.md says."""
SLACK = 14
"""MiB that the MPI library's own transport may take when a long message is its first."""


@pytest.mark.parametrize("name", ["openmpi4", "mpich"])
def test_a_long_reduction_takes_a_bounded_share(name: str, tmp_path: Path) -> None:
    tools = toolchain(name)
    program = compiled(tools, tmp_path, str(PROGRAM))
    for how, collective, algorithm, bound in (
        ("r", "allreduce", "flat_doubling", BOUND),
        ("r", "allreduce", "flat_ring", BOUND),
        ("s", "reduce_scatter", "flat_halving", IN_PLACE),
    ):
        forced = {"UNISONO_FORCE": f"{collective}=unisono/{algorithm}", "UNISONO_VERBOSE": "1"}
        ran = run(tools, tmp_path, program, how, str(MIB), ranks=2, env=forced, record=False)
        assert ran.status == 0, ran.out + ran.error
        assert f"unisono/{algorithm}" in ran.error
        peak, left = map(int, ran.out.split()[-2:])
        assert peak <= bound + SLACK, f"MiB of {algorithm}"
        assert left <= KEPT + SLACK, f"MiB left of {algorithm}"


@pytest.mark.parametrize(
    ("name", "runs"),
    [
        ("mpich", [("a", 128, 2), ("v", 128, 2), ("x", 128, 2)]),
        ("openmpi4", [("a", 301, 3), ("g", 128, 2), ("w", 128, 2), ("N", 128, 2), ("b", 128, 2)]),
        pytest.param("openmpi4", [("G", 301, 3), *((how, 128, 2) for how in "nxX")], marks=pytest.mark.nightly),
    ],
    ids=["mpich", "openmpi4", "openmpi4-more"],
)
def test_long_messages_are_moved_and_packed_in_pieces(
    name: str, runs: list[tuple[str, int, int]], tmp_path: Path
) -> None:
    """Of 64 MiB, and of 150 on three ranks, whose pieces are not alike and cut elements; also where one rank packs."""
    tools = toolchain(name)
    program = compiled(tools, tmp_path, str(PROGRAM))
    env = {"UNISONO_COLLECTIVES": "on", "UNISONO_VERBOSE": "1"}
    for how, mebibytes, ranks in runs:
        ran = run(tools, tmp_path, program, how, str(mebibytes), ranks=ranks, env=env, record=False)
        assert ran.status == 0, f"{how}: {ran.out}{ran.error}"
        who = (
            "mpi" if how in ("N", "b") else "unisono/"
        )  # elements that cannot be cut, messages that would be packed whole
        collective = {"b": "bcast"}.get(how, "alltoallv?")
        assert re.search(rf"{collective} +\S+ +{who}", ran.error), f"{how}: {ran.error}"
        peak, left = map(int, ran.out.split()[-2:])
        if who != "mpi" and how != "X":
            assert peak <= IN_PLACE + SLACK, how
        assert left <= KEPT + SLACK, how


@pytest.mark.parametrize(
    ("algorithm", "how", "nodes"),
    [
        ("nodes", "y", "2"),
        ("adaptive", "y", "2"),
        ("direct", "z", "1"),
        ("direct", "v", "1"),
        ("direct", "x", "1"),
        ("nodes", "x", "2"),
        ("lanes", "x", "2"),
    ],
)
def test_blocks_of_own_lengths_go_in_pieces(algorithm: str, how: str, nodes: str, tmp_path: Path) -> None:
    """In place, with gaps, and where a rank keeps what those of its node send."""
    tools = toolchain("openmpi4")
    program = compiled(tools, tmp_path, str(PROGRAM))
    collective = {"y": "alltoallw", "z": "neighbor_alltoallw"}.get(how, "alltoallv")
    env = {"UNISONO_FORCE": f"{collective}=unisono/{algorithm}", "UNISONO_VERBOSE": "1", "UNISONO_FAKE_NODES": nodes}
    env |= {"UNISONO_PATIENCE": "0"} if how == "z" else {}
    ran = run(tools, tmp_path, program, how, "128", ranks=2 * int(nodes), env=env, record=False)
    assert ran.status == 0 and f"unisono/{algorithm}" in ran.error, ran.out + ran.error
    assert int(ran.out.split()[-2]) <= IN_PLACE + SLACK


@pytest.mark.parametrize("algorithm", ["cells", "pull"])
@pytest.mark.parametrize(("collective", "hows"), [("alltoallw", "yY"), ("neighbor_alltoallw", "zZ")])
def test_an_alltoallw_on_one_node_goes_in_pieces(collective: str, hows: str, algorithm: str, tmp_path: Path) -> None:
    """Also of elements as long as a block, for each of which there has to be room."""
    tools = toolchain("openmpi4")
    program = compiled(tools, tmp_path, str(PROGRAM))
    env = {"UNISONO_FORCE": f"{collective}=unisono/{algorithm}", "UNISONO_VERBOSE": "1", "UNISONO_PATIENCE": "0"}
    for how, bound in zip(hows, (IN_PLACE, 128), strict=True):
        ran = run(tools, tmp_path, program, how, "128", ranks=2, env=env, record=False)
        assert ran.status == 0 and f"unisono/{algorithm}" in ran.error, ran.out + ran.error
        peak, left = map(int, ran.out.split()[-2:])
        assert peak <= bound + SLACK and left <= KEPT + SLACK, how
