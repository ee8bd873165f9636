"""Nonblocking collectives as a table for a terminal: what the call takes, and what the wait for it does."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from unisono.core.display import seconds
from unisono.core.language import _
from unisono.profile.hot import HotSpot
from unisono.profile.recorded import is_nonblocking


def is_followed(spot: HotSpot) -> bool:
    """Whether it is a nonblocking collective of which the profile knows how long the program waited for it."""
    return is_nonblocking(spot.function) and not math.isnan(spot.completion)


def posted_table(rows: Sequence[tuple[HotSpot, Text, str, str]]) -> Table:
    """Of spots that are followed, each with its name, calls a rank and bytes in words; times of all ranks together."""
    title = _("Nonblocking collectives: the call, and the wait for it in calls that complete requests")
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(_("function"), overflow="ellipsis", no_wrap=True)
    for column in (_("calls/rank"), _("bytes"), _("in the call"), _("waited for"), _("both, each")):
        table.add_column(column, justify="right", no_wrap=True)
    for spot, name, calls, amount in rows:
        each = seconds(spot.time / spot.visits) if spot.visits > 0 else ""
        table.add_row(name, calls, amount, seconds(spot.called), seconds(spot.completion), each)
    return table
