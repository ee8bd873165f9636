"""Where the ranks of a study's launches were, as the benchmark said it, and whether nodes share CPUs by that."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter

from unisono.cmdline.placement import share_cpus
from unisono.core.language import _
from unisono.study import rows as kept

OVER_NODES = "SELECT min(id), hello FROM launch WHERE nodes > 1 AND hello IS NOT NULL GROUP BY nodes, ppn"
"""One launch for each number of nodes and of ranks a node."""


class _Place(BaseModel):
    model_config = ConfigDict(strict=True)
    node: int
    cpus: list[int]


class _Hello(BaseModel):
    """Of another program than the benchmark (unisono hybrid) nothing is known of places."""

    model_config = ConfigDict(strict=True)
    oversubscribed: bool = False
    where: list[_Place] = []


_HELLO: TypeAdapter[_Hello] = TypeAdapter(_Hello)


def nodes_share_cpus(launches: Iterable[tuple[int, str]], path: Path) -> bool:
    """By the rows of OVER_NODES. Raises UserError, naming the study `path`, where one is damaged."""
    said = (kept.parsed(_HELLO, hello, _("what launch {id} said").format(id=id), path) for id, hello in launches)
    return any(one.oversubscribed and share_cpus((rank.node, rank.cpus) for rank in one.where) for one in said)
