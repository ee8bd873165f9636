"""Where ranks go, for formats that can say it and for those that only remind of it."""

from __future__ import annotations

from unisono.cmdline.placement import place
from unisono.core.errors import UserError
from unisono.export.content import Content


def placement_words(content: Content) -> list[str]:
    """For right after the launcher. Raises UserError where the plan's ranks do not fit the machine's nodes."""
    plan, machine = content.plan, content.machine
    policy = plan.launch.get("placement")
    if policy is None:
        return []
    placement = place(machine, plan.nodes, plan.ppn, policy, oversubscribe=True)
    return placement.arguments(content.mpi, [node.host for node in machine.nodes[: plan.nodes]])


def placement_comment(content: Content) -> list[str]:
    """A comment line about the placement, which the file cannot say; none where the plan has none."""
    policy = content.plan.launch.get("placement")
    if policy is None:
        return []
    try:
        placed = " ".join(placement_words(content))
    except UserError:  # Written for other nodes than the ones known here: the policy still says what is meant.
        placed = "the words for it"
    return [f"Not in here: placement={policy}; give mpirun {placed}"]
