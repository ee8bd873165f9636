"""Every collective of ours under SimGrid, against SimGrid's own."""

from __future__ import annotations

import pytest

from unisono.simulate.build import unavailable
from unisono.simulate.platforms import FAT_TREE, FX10, Platform
from unisono.simulate.run import Run

reason = unavailable()
pytestmark = pytest.mark.skipif(reason is not None, reason=f"SimGrid: {reason}")

COLLECTIVES = ("allgather", "allgatherv", "allreduce", "alltoall", "alltoallv", "barrier", "bcast", "reduce")
MACHINES = [
    (FX10.resized((3, 2, 2)), 3),
    (FX10.resized((6, 3)), 1),
    (FAT_TREE.resized((16,)), 1),
]


@pytest.mark.parametrize(("platform", "ppn"), MACHINES, ids=["torus 3x2x2 x 3", "torus 6x3 x 1", "fat tree 16 x 1"])
@pytest.mark.parametrize("collective", COLLECTIVES)
def test_every_algorithm_is_right(platform: Platform, ppn: int, collective: str) -> None:
    results = Run(platform, ppn, collective, ["all"], [2003], check=True).results(120)
    wrong = [result for result in results if result.outcome == "WRONG"]
    assert not wrong
    served = {result.algorithm for result in results if result.outcome == "right"}
    assert served or collective == "barrier"
    if platform.kind == "torus" and collective == "alltoall":
        assert {"simple_spread", "double_spread", "node_spread"} <= served
    if platform.kind == "torus" and collective == "bcast":
        assert {"links", "links_single", "tree3d", "tree3d_single"} <= served


def test_trees_over_links_pipeline_as_the_model_says() -> None:
    """On a 4x4x4 torus, 8 B down a tree of depth 10 take 10 hops; 6 MiB near the bandwidth of six links."""
    platform = FX10.resized((4, 4, 4))
    small, large = Run(platform, 1, "bcast", ["links"], [8, 6 << 20]).results(60)
    assert isinstance(small.outcome, float) and isinstance(large.outcome, float)
    assert small.outcome == pytest.approx(10 * platform.latency.value, rel=0.05)
    bound = (6 << 20) / 6 / platform.bandwidth.value
    assert bound < large.outcome < 2 * bound
