"""Reference values for ReFrame, with bounds from the study's own launch-to-launch spread."""

from __future__ import annotations

from unisono.core.errors import UserError
from unisono.core.language import N_, _
from unisono.export import reframe_reference
from unisono.export.content import Content
from unisono.export.seen import Item
from unisono.export.spread import INSIDE, expected
from unisono.mpi.family import Family

NAME = "reframe"
LABEL = N_("reference times for ReFrame, with bounds taken from the differences between the study's launches")
REFERENCE = "unisono_reference.py"
FILES: tuple[str, ...] = (REFERENCE,)
BY_TUNE = False
TAKES_LIBRARY = True


def read_by(family: Family) -> bool:
    return True


def expresses(content: Content) -> bool:
    return bool(content.plan.gain)


def write(content: Content) -> dict[str, str]:
    plan = content.plan
    values = expected(content.measured(), plan)
    if not values:
        raise UserError(
            _(
                "format {format}: the study has fewer than three launches of every size, which say nothing of how they "
                "differ; unisono tune --resume measures more"
            ).format(format=NAME)
        )
    comments = [
        *content.head,
        "Microseconds: medians of a call's time, until its last rank is done, as the study's benchmark measured them.",
        f"Names are COLLECTIVE_BYTES_NODESxPPN. A bound holds {INSIDE:.0%} of later launches if they differ as the",
        "study's did; of many references some are beyond theirs by chance, so measure such a one again.",
        "A quicker call is no failure: there is no lower bound.",
    ]
    missing = [name for name in plan.gain if name not in {value.collective for value in values}]
    if missing:
        comments.append(f"Not in here, for want of launches: {', '.join(missing)}.")
    return {REFERENCE: reframe_reference.write(values, f"{plan.nodes}x{plan.ppn}", comments)}


def check(content: Content, deadline: float) -> tuple[list[Item], list[str]]:
    raise UserError(
        _("--check: {name} is read by ReFrame, no MPI takes it: run the ReFrame test that uses it").format(
            name=REFERENCE
        )
    )
