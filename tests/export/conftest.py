"""The virtual cluster, for checks over several nodes."""

from __future__ import annotations

from tests.cluster.conftest import cluster

__all__ = ["cluster"]
