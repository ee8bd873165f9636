"""Times for a number of ranks a node that was not measured, from those that were.

Nothing tells how the error grows with the ranks a node, so it is assumed, by doubling, as for a single number of nodes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from unisono.core.vocabulary import DEFAULT, Setting
from unisono.extrapolate.fit import ASSUMED, ASSUMED_DOF, ASSUMED_OWN, NEAREST, Forecast, Model, Point


@dataclass(frozen=True, slots=True)
class OtherPpn:
    """One setting of one collective."""

    models: Mapping[int, Model]
    """By the ranks a node that were measured, one at least."""
    own: float
    """Standard deviation (log) by doubling that is assumed to be the setting's own."""

    @property
    def points(self) -> tuple[Point, ...]:
        return tuple(point for model in self.models.values() for point in model.points)

    def forecast(self, size: int, nodes: int, ppn: int) -> Forecast | None:
        """From the two numbers of ranks a node that are nearest, as times grow from the one to the other; from a single
        one as its law has it. One rank a node has no part on the node, so it tells nothing of how that grows. None
        where none of them tells anything."""
        told = {
            per_node: forecast
            for per_node in sorted(self.models, key=lambda per_node: (abs(math.log2(ppn / per_node)), -per_node))
            if (forecast := self.models[per_node].forecast(size, nodes, per_node)) is not None
        }
        if not told:
            return None
        near = next(iter(told))
        others = [per_node for per_node in told if per_node != near and min(per_node, near) > 1]
        steps = math.log2(ppn / near)
        if others:
            grown = math.log(told[near].seconds / told[others[0]].seconds) / math.log2(near / others[0]) * steps
        else:
            model = self.models[near]
            grown = math.log(model.bare(size, nodes, ppn) / model.bare(size, nodes, near))
        far = math.sqrt(max(abs(steps), NEAREST))
        return replace(
            told[near],
            seconds=told[near].seconds * math.exp(grown),
            spread=math.hypot(told[near].spread, ASSUMED * far),
            own=math.hypot(told[near].own, self.own * far),
            dof=min(told[near].dof, ASSUMED_DOF),
        )


def between(models: Mapping[int, Mapping[Setting, Model]], near: int) -> dict[Setting, OtherPpn]:
    """Of each setting that was measured with `near` ranks a node. `models`: ranks a node -> what each setting took."""
    return {
        setting: OtherPpn(
            {ppn: found[setting] for ppn, found in models.items() if setting in found},
            ASSUMED if setting == DEFAULT else ASSUMED_OWN,
        )
        for setting in models[near]
    }
