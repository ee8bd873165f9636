"""Does the MPI really take what was exported? Launches for real and reports what was seen, item by item.

How a format is checked is the format's own (see unisono.export.formats).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from unisono.core.language import _, translated
from unisono.export.content import content_of
from unisono.export.formats import named
from unisono.export.seen import Item
from unisono.machine.description import Machine
from unisono.tuning.contents import Tuning
from unisono.tuning.plans import Plan


@dataclass(frozen=True, slots=True)
class Check:
    """What was found. `taken` is the answer: exit status 0 or 1."""

    format: str
    items: tuple[Item, ...]
    commands: tuple[str, ...]
    """Every command line that was run, for pasting."""

    @property
    def taken(self) -> bool:
        return all(item.taken is not False for item in self.items)

    def table(self) -> Table:
        """For a terminal."""
        table = Table(title=_("Taken") if self.taken else _("Not taken"), title_justify="left")
        for name in (_("what"), _("wanted"), _("found"), ""):
            table.add_column(name, overflow="fold")
        words = {True: _("taken"), False: _("NOT TAKEN"), None: _("not known")}
        for item in self.items:
            reason = f": {translated(item.reason)}" if item.reason else ""
            style = {True: "", False: "bold red", None: "yellow"}[item.taken]
            cells = (item.what, translated(item.wanted), translated(item.found), words[item.taken] + reason)
            table.add_row(*(Text(cell, style=style) for cell in cells))
        return table

    def as_dict(self) -> dict[str, Any]:
        return {
            "format": self.format,
            "taken": self.taken,
            "items": [asdict(item) for item in self.items],
            "commands": list(self.commands),
        }


def check(
    tuning: Tuning, format: str, plan: Plan, machine: Machine, directory: Path, *, deadline: float = 60.0
) -> Check:
    """Checks the files `export` wrote into `directory`, as they are now. `deadline` is seconds a launch.

    Raises UserError for files that are missing or broken (with the line), and where no probe can be built or the
    plan's ranks do not fit (unless it was measured oversubscribed); a launch that fails is an answer, not an error.
    """
    content = content_of(tuning, plan, machine, directory)
    items, commands = named(format).check(content, deadline)
    return Check(format, tuple(items), tuple(commands))
