"""How many messages meet on the fullest link of a platform, where many are sent at once.

Links are counted by the shape of the network alone, as if routing spread them evenly over links that are alike: a fat
tree's links up from a switch. On a torus routes are SimGrid's (`links`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unisono.simulate.links import Links
from unisono.simulate.platforms import Platform

Nodes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Fullest:
    """The network of a platform, of as many nodes as it can have; each gives and takes all bytes over one link."""

    platform: Platform

    def check(self, nodes: int) -> None:
        """Raises UserError where the platform cannot have so many."""
        self.platform.sized(nodes)

    def longer(self, nodes: int, senders: Nodes, receivers: Nodes) -> float:
        """Seconds that the fullest link takes longer than that of the fullest node, for messages of one byte from node
        senders[i] to node receivers[i], all at once."""
        kinds = {"torus": self._torus, "fat tree": self._tree, "dragonfly": self._dragonfly}
        if self.platform.kind not in kinds or not len(senders):
            return 0.0
        messages = kinds[self.platform.kind](nodes, senders, receivers)
        own = max(np.bincount(senders).max(), np.bincount(receivers).max())
        return max(0.0, messages - float(own)) / self.platform.bandwidth.value

    def _torus(self, nodes: int, senders: Nodes, receivers: Nodes) -> float:
        return float(Links(self.platform.sized(nodes).extents).load(senders, receivers, np.ones(len(senders))).max())

    def _tree(self, nodes: int, senders: Nodes, receivers: Nodes) -> float:
        """Messages are spread evenly over a switch's links up."""
        one = self.platform
        up = max(1, one.leaf // one.taper)
        found = _fullest(senders // one.leaf, receivers // one.leaf) / up
        if one.pod:
            pod = one.leaf * one.pod
            found = max(found, _fullest(senders // pod, receivers // pod) / (up * max(1, one.pod // one.pod_taper)))
        return found

    def _dragonfly(self, nodes: int, senders: Nodes, receivers: Nodes) -> float:
        """Two groups have one link each way; so have two routers of a row, or of a column."""
        _groups, rows, routers, hosts = self.platform.shape
        group = rows * routers * hosts
        here, there = senders // group, receivers // group
        apart = here != there
        within = senders[~apart] // hosts, receivers[~apart] // hosts
        return max(_fullest_pair(here, there), _fullest_pair(*within))


def _fullest(senders: Nodes, receivers: Nodes) -> float:
    """The most messages that leave, or reach, one switch."""
    away = senders != receivers
    if not away.any():
        return 0.0
    return float(max(np.bincount(senders[away]).max(), np.bincount(receivers[away]).max()))


def _fullest_pair(senders: Nodes, receivers: Nodes) -> float:
    """The most messages from one place to another one."""
    away = senders != receivers
    if not away.any():
        return 0.0
    return float(np.unique(senders[away] * (receivers.max() + 1) + receivers[away], return_counts=True)[1].max())
