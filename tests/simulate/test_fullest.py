"""How many messages meet on the fullest link: by hand, and against times that SimGrid gave."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from unisono.core.vocabulary import Setting
from unisono.extrapolate.contention import Contention
from unisono.simulate import files
from unisono.simulate.fullest import Fullest

RECORDED = Path(__file__).parents[2] / "benchmarks" / "data" / "extrapolation.jsonl"


def met(name: str, nodes: int, distance: int) -> float:
    """Messages on the fullest link beyond the one that each node sends to the partner at this distance."""
    network = Fullest(files.platform(name))
    own = np.arange(nodes)
    return network.longer(nodes, own, own ^ distance) * network.platform.bandwidth.value


def test_a_tapered_tree_has_fewer_links_up_than_nodes() -> None:
    assert met("fat-tree-tapered", 32, 8) == 0, "within a switch of 16"
    assert met("fat-tree-tapered", 32, 16) == pytest.approx(16 / 4 - 1)
    assert met("fat-tree", 32, 16) == 0
    assert met("dragonfly-plus", 256, 128) == pytest.approx(2 - 1), "groups of 128 nodes have half as many links out"


def test_two_groups_of_a_dragonfly_have_one_link_each_way() -> None:
    assert met("dragonfly", 256, 128) == pytest.approx(128 - 1)
    assert met("dragonfly", 256, 4) == pytest.approx(4 - 1), "all nodes of a router to another router"
    assert met("dragonfly", 256, 2) == 0


def test_a_ring_of_a_torus_carries_what_goes_past() -> None:
    assert met("torus", 1024, 2) == pytest.approx(2 - 1)
    assert met("torus", 1024, 1) == 0


def test_nothing_meets_on_a_crossbar_or_where_nobody_sends() -> None:
    network = Fullest(files.platform("t2k"))
    nobody = np.array([], dtype=np.int64)
    for platform in map(files.platform, files.names()):
        assert Fullest(platform).longer(8, nobody, nobody) == 0
    if network.platform.kind == "crossbar":
        assert met("t2k", 32, 16) == 0


@pytest.mark.parametrize(
    ("collective", "algorithm", "size", "nodes"),
    [("bcast", "doubling", 131072, 256), ("allgather", "flat_doubling", 1024, 256)],
)
def test_times_that_links_decide_are_simgrids(collective: str, algorithm: str, size: int, nodes: int) -> None:
    """Most of a recorded time is waiting for the one link between two groups."""
    setting = {"coll": "unisono", "algorithm": algorithm}
    (took,) = [
        row["seconds"]
        for row in map(json.loads, RECORDED.read_text().splitlines())
        if (row["machine"], row["collective"], row["size"], row["nodes"])
        == ("dragonfly, simulated", collective, size, nodes)
        and row["setting"] == setting
    ]
    longer = Contention(Fullest(files.platform("dragonfly")), collective, Setting(setting)).seconds(size, nodes, 1)
    assert 0.85 * took < longer < took
