"""Every collective of ours under SimGrid, against SimGrid's own."""

from __future__ import annotations

import os
import random
from dataclasses import replace
from pathlib import Path

import pytest

from unisono.core.vocabulary import DISPATCHED, NEIGHBOURHOODS, WITH_REQUEST
from unisono.simulate.files import names
from unisono.simulate.files import platform as read_platform
from unisono.simulate.platforms import Number, Platform
from unisono.simulate.programs import simulator, unavailable
from unisono.simulate.run import OPTIONS, Run, output_of, read

reason = unavailable()
pytestmark = pytest.mark.skipif(reason is not None, reason=f"SimGrid: {reason}")

FX10, FAT_TREE = read_platform("fx10"), read_platform("fat-tree")
MACHINES = [
    (FX10.resized((3, 2, 2)), 3, True),
    (FX10.resized((6, 3)), 2, False),
    (FAT_TREE.resized((16,)), 1, True),
    (FAT_TREE.resized((17,)), 1, True),
    (FAT_TREE.resized((1,)), 5, True),
]
"""Platform, processes a node, whether these share memory."""
NAMES = ["torus 3x2x2 x 3", "torus 6x3 x 2", "fat tree 16 x 1", "fat tree 17 x 1", "one node x 5"]


SEVERAL_AT_ONCE = {
    "allgather": {"leader_multiplying", "leader_bine", "leader_pat"},
    "allgatherv": {"leader_multiplying", "leader_bine", "leader_pat"},
    "allreduce": {"leader_dividing", "leader_bine", "leader_pat"},
    "barrier": {"leader_radix"},
    "bcast": {"leader_postal", "circulant", "two_trees"},
    "reduce": {"leader_postal", "circulant", "two_trees"},
    "reduce_scatter": {"lanes_dividing", "lanes_bine", "lanes_pat"},
    "reduce_scatter_block": {"lanes_dividing", "lanes_bine", "lanes_pat"},
}
"""Also on 17 nodes, which are no product of small factors."""


def test_copies_take_their_time(tmp_path: Path) -> None:
    """Of every process its own: 1 MB at 2 GB/s is half a millisecond, for four at once as for one."""
    FX10.resized((2, 1)).write(tmp_path, 2)
    where = ["-np", "4", "-platform", str(tmp_path / "platform.xml"), "-hostfile", str(tmp_path / "hosts")]
    argv = ["smpirun", *where, *OPTIONS, *FX10.options(), str(simulator()), "copy", f"{FX10.copy.value:g}", "1000000"]
    (result,) = read(output_of(argv, os.environ, tmp_path, 60))
    assert result.outcome == pytest.approx(1e6 / FX10.copy.value, rel=0.02)


TWO_NODES = {"t2k": 2e-6 + 8192 / 1.25e9, "xt4": 5.2e-6 + 5e-8 + 8192 / 7.6e9, "fx10": 1e-6 + 8192 / 5e9}


@pytest.mark.parametrize("name", names())
def test_a_message_takes_what_the_file_says(name: str) -> None:
    """SimGrid reads every file; 8 KiB to another node take latency and bandwidth, those of one link."""
    (result,) = Run(read_platform(name).sized(2), 1, "bcast", ["smpi"], [8192], smpi={"bcast": "flattree"}).results(60)
    assert isinstance(result.outcome, float)
    assert result.outcome == pytest.approx(TWO_NODES.get(name, result.outcome), rel=0.02)


@pytest.mark.parametrize("nodes", [2, 3, 7, 16])
def test_all_processes_start_together(nodes: int) -> None:
    """The root sends to everybody in turn: no time is lost or gained between it and the one that is told last."""
    start = 0.2e-6
    platform = replace(FAT_TREE.resized((nodes,)), start=Number(start, "assumed"))
    (result,) = Run(platform, 1, "bcast", ["smpi"], [8], smpi={"bcast": "flattree"}).results(60)
    assert isinstance(result.outcome, float)
    to_a_switch_and_from_it = 2 * platform.latency.value
    assert result.outcome == pytest.approx((nodes - 1) * start + to_a_switch_and_from_it, abs=0.03e-6)


def test_a_node_shares_its_memory() -> None:
    """One process copies a vector in, the others copy it out, piece by piece; with messages copy follows copy."""
    platform, size = FX10.resized((2,)), 1 << 20
    copy = size / platform.copy.value
    for shared, least, most in ((True, 1.0, 1.2), (False, 3.9, 4.6)):
        run = Run(platform, 16, "bcast", ["leader"], [size], shared=shared)
        (result,) = run.results(60)
        assert isinstance(result.outcome, float)
        node = result.outcome - size / platform.bandwidth.value
        assert least < node / copy < most


@pytest.mark.parametrize(("platform", "ppn", "shared"), MACHINES, ids=NAMES)
@pytest.mark.parametrize("collective", [name for name in DISPATCHED if name not in (*NEIGHBOURHOODS, *WITH_REQUEST)])
def test_every_algorithm_is_right(platform: Platform, ppn: int, shared: bool, collective: str) -> None:
    results = Run(platform, ppn, collective, ["all"], [2003], check=True, shared=shared).results(120)
    wrong = [result for result in results if result.outcome == "WRONG"]
    assert not wrong
    served = {result.algorithm for result in results if result.outcome == "right"}
    assert served or collective == "barrier"
    if platform.kind == "torus" and collective == "alltoall":
        assert {"simple_spread", "double_spread", "node_spread", "dimensions"} <= served
    if platform.kind == "fat tree" and platform.nodes in (1, 16) and collective in ("allgather", "bcast"):
        assert served & {"doubling", "flat_doubling", "cells"}
    if platform.nodes > 1 and collective in SEVERAL_AT_ONCE:
        assert SEVERAL_AT_ONCE[collective] <= served
    if platform.kind == "torus" and collective == "bcast":
        assert {"links", "links_single", "tree3d", "tree3d_single"} <= served


@pytest.mark.nightly
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("collective", [name for name in DISPATCHED if name not in (*NEIGHBOURHOODS, *WITH_REQUEST)])
def test_every_algorithm_is_right_with_hundreds_of_ranks(collective: str) -> None:
    """Of a random size each night, on 64 nodes of a torus with four processes each."""
    size = random.Random(f"{os.environ.get('UNISONO_SEED', '1')}/{collective}").randrange(1, 300)
    results = Run(FX10.resized((4, 4, 4)), 4, collective, ["all"], [size], check=True, shared=True).results(1500)
    assert not [result for result in results if result.outcome == "WRONG"], size
    assert "right" in {result.outcome for result in results} or collective == "barrier"


@pytest.mark.parametrize("collective", ["bcast", pytest.param("reduce", marks=pytest.mark.nightly)])
def test_trees_over_groups_of_nodes_are_right(collective: str, tmp_path: Path) -> None:
    """On 40 nodes in groups of different sizes, of which two are behind one switch more, in no order."""
    platform, of = FAT_TREE.resized((40,)), [0, 1, 2, 2, 1, 2, 3, 1]
    platform.write(tmp_path, 1)
    members = {group: [node for node in range(40) if of[node % 8] == group] for group in range(4)}
    lines = [f"SwitchName=g{group} Nodes=%[{','.join(map(str, some))}]" for group, some in members.items()]
    text = "\n".join([*lines, "SwitchName=x Switches=g[0-1]", "SwitchName=y Switches=g[2-3]", ""])
    (tmp_path / "groups").write_text(text)
    argv = Run(platform, 1, collective, ["near_trees", "two_trees"], [], check=True).argv(tmp_path)
    at = argv.index("check")
    env = {**os.environ, "UNISONO_TOPOLOGY": str(tmp_path / "groups")}
    sizes = ["1", "2003", "70001", "300000"]
    results = read(output_of([*argv[:at], str(simulator()), *argv[at:], *sizes], env, tmp_path, 120))
    assert len(results) == 8 and {result.outcome for result in results} == {"right"}


def test_trees_over_links_pipeline_as_the_model_says() -> None:
    """On a 4x4x4 torus, 8 B down a tree of depth 10 take 10 hops; 6 MiB near the bandwidth of six links."""
    platform = FX10.resized((4, 4, 4))
    small, large = Run(platform, 1, "bcast", ["links"], [8, 6 << 20]).results(60)
    assert isinstance(small.outcome, float) and isinstance(large.outcome, float)
    assert small.outcome == pytest.approx(10 * platform.latency.value, rel=0.05)
    bound = (6 << 20) / 6 / platform.bandwidth.value
    assert bound < large.outcome < 2 * bound
