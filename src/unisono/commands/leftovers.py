"""What killed launches left behind is removed by the next command that looks, and people are told."""

from __future__ import annotations

from unisono.commands.console import err
from unisono.core.language import _
from unisono.core.sizes import format_size
from unisono.launch import left


def remove_leftovers() -> None:
    """Names on stderr each file and folder that a dead launch of this user left here, having removed it."""
    for path, size in sorted(left.clear().items()):
        err().print(
            _("Removed {path} ({size}), which a killed launch had left.").format(path=path, size=format_size(size)),
            markup=False,
        )
