"""A profile for other tools: one module a format."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.core.writing import write
from unisono.profile.recorded import Profile

EXTENSIONS = {"cubex": ".cubex", "speedscope": ".speedscope.json", "json": ".json"}
"""Format -> how its files are called."""


def export_profile(profile: Profile, path: Path, format: str) -> tuple[str, ...]:
    """Writes `profile` as cubex, speedscope or json; returns what that format cannot hold, a sentence each.

    Raises UserError for another format, and where the file cannot be written.
    """
    writer, lost = _writer(format)
    write(path, writer(profile))
    return lost


def _writer(format: str) -> tuple[Callable[[Profile], bytes], tuple[str, ...]]:
    if format == "cubex":
        from unisono.profile.exporters import cubex

        return cubex.cubex, cubex.LOST
    if format == "speedscope":
        from unisono.profile.exporters import speedscope

        return speedscope.speedscope, speedscope.LOST
    if format == "json":
        from unisono.profile.exporters import json

        return json.as_json, ()
    raise UserError(_("--format {format}: give {formats}").format(format=format, formats=", ".join(EXTENSIONS)))
