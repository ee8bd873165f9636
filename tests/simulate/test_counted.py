"""Messages that our collectives send: counted on links by hand, and as fast in a simulation as SimGrid's own."""

from __future__ import annotations

import numpy as np
import pytest

from unisono.simulate.files import platform as read_platform
from unisono.simulate.fullest import Fullest
from unisono.simulate.links import Links
from unisono.simulate.platforms import Platform
from unisono.simulate.programs import unavailable
from unisono.simulate.run import Loads, Run

reason = unavailable()
pytestmark = pytest.mark.skipif(reason is not None, reason=f"SimGrid: {reason}")

TREE = read_platform("fat-tree-tapered")
AS_SIMGRID_SENDS = ("--cfg=smpi/test:0",)
"""An option that changes nothing, and with which short messages are sent by SimGrid's means."""


def counted(platform: Platform, ppn: int, collective: str, algorithm: str, size: int = 8) -> Loads:
    (result,) = Run(platform, ppn, collective, [algorithm], [size], count=True).results(60)
    assert isinstance(result.outcome, Loads)
    return result.outcome


@pytest.mark.parametrize("ppn", [1, 2])
def test_an_alltoall_through_a_tapered_tree(ppn: int) -> None:
    """16 nodes of a switch send to 16 behind another one, over four links."""
    blocks = 8 * ppn * ppn
    assert counted(TREE.sized(32), ppn, "alltoall", "nodes") == Loads(
        link=blocks * 16 * 16 / 4, node=blocks * 31, all=blocks * 32 * 31
    )


def test_a_ring_sends_everything_over_every_link() -> None:
    assert counted(TREE.sized(32), 1, "allgather", "ring", 1000) == Loads(31000, 31000, 32 * 31000)


def test_what_stays_on_a_node_is_not_counted() -> None:
    assert counted(TREE.sized(1), 4, "allgather", "cells") == Loads(0, 0, 0)


def test_a_chain_sends_a_vector_once_to_every_other_node() -> None:
    assert counted(TREE.sized(20), 3, "bcast", "chain", 100) == Loads(link=100, node=100, all=1900)


@pytest.mark.parametrize(("name", "nodes"), [("fat-tree-tapered", 64), ("dragonfly", 256)])
def test_routes_carry_what_the_shape_of_the_network_says(name: str, nodes: int) -> None:
    """Everybody sends to everybody: `Fullest` counts without SimGrid."""
    platform = read_platform(name).sized(nodes)
    senders, receivers = np.nonzero(~np.eye(nodes, dtype=bool))
    longer = Fullest(platform).longer(nodes, senders, receivers) * platform.bandwidth.value
    loads = counted(platform, 1, "alltoall", "nodes")
    assert loads.node == 8 * (nodes - 1)
    assert loads.link == pytest.approx(loads.node + 8 * longer)


def test_a_torus_carries_what_is_counted_without_simgrid() -> None:
    platform = read_platform("torus").sized(48)
    senders, receivers = np.nonzero(~np.eye(48, dtype=bool))
    load = Links(platform.extents).load(senders, receivers, np.full(len(senders), 8.0))
    assert counted(platform, 1, "alltoall", "nodes").link == load.max()


@pytest.mark.parametrize(
    ("name", "nodes", "ppn", "collective", "algorithms"),
    [
        ("fat-tree-tapered", 24, 2, "allreduce", ["leader_multiplying", "lanes_dividing"]),
        ("fat-tree-tapered", 24, 3, "reduce_scatter_block", ["lanes_dividing", "lanes_pat", "flat_pairwise"]),
        ("dragonfly", 24, 1, "alltoall", ["leader", "nodes", "paced"]),
        ("dragonfly", 24, 1, "bcast", ["circulant", "two_trees"]),
        ("torus", 24, 1, "bcast", ["tree3d", "links"]),
    ],
)
def test_short_messages_take_as_long_as_simgrids_own(
    name: str, nodes: int, ppn: int, collective: str, algorithms: list[str]
) -> None:
    platform, sizes = read_platform(name).sized(nodes), (8, 5000)
    ours = Run(platform, ppn, collective, algorithms, sizes).results(60)
    simgrids = Run(platform, ppn, collective, algorithms, sizes, options=AS_SIMGRID_SENDS).results(60)
    assert ours == simgrids
    assert all(isinstance(result.outcome, float) for result in ours)


def test_an_option_for_messages_that_simgrid_lets_go_is_heard() -> None:
    """smpi/or: what a short message takes its receiver."""
    platform = TREE.sized(2)
    took = []
    for options in ((), ("--cfg=smpi/or:0:1e-6:0",)):
        (result,) = Run(platform, 1, "bcast", ["leader"], [8], options=options).results(60)
        assert isinstance(result.outcome, float)
        took.append(result.outcome)
    assert took[1] == pytest.approx(took[0] + 1e-6, rel=0.01)
