"""The fixture `cluster`: makes virtual clusters, and ends them with the test."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import pytest

from tests.launch.conftest import installed
from unisono.vcluster.cluster import ClusterError, VirtualCluster

__all__ = ["installed"]


class MakeCluster(Protocol):
    def __call__(self, nodes: int = 4, shape: tuple[str, str] | None = None) -> VirtualCluster: ...


@pytest.fixture
def cluster() -> Iterator[MakeCluster]:
    """cluster(nodes=4, shape=None) -> VirtualCluster; skips the test where namespaces are not permitted."""
    made: list[VirtualCluster] = []

    def make(nodes: int = 4, shape: tuple[str, str] | None = None) -> VirtualCluster:
        try:
            made.append(VirtualCluster(nodes, shape))
        except ClusterError as error:
            pytest.skip(str(error))
        return made[-1]

    yield make
    for virtual in made:
        virtual.close()
