"""A profile as one JSON document with named columns, for scripts. Nothing is lost; NaN and "not known" are null."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from unisono import __version__
from unisono.profile.recorded import Profile

FORMAT = "unisono-profile-table"
VERSION = 1
_CAN_BE_UNKNOWN = ("comm", "size", "size_min", "size_max", "calls", "sent", "received", "completed")


def as_json(profile: Profile) -> bytes:
    """The whole file: `cells` and `pairs` are tables by column; indices point into the lists beside them."""
    origin = {
        key: None if isinstance(value, float) and math.isnan(value) else value
        for key, value in dataclasses.asdict(profile.origin).items()
    }
    document: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "made_by": f"unisono {__version__}",
        "origin": origin,
        "notes": profile.notes,
        "ranks": profile.ranks,
        "wall_seconds": profile.wall.tolist(),
        "functions": profile.functions,
        "frames": [dataclasses.asdict(frame) for frame in profile.frames],
        "paths": [
            {"parent": path.parent if number else None, "frame": path.frame if number else None}
            for number, path in enumerate(profile.paths)
        ],
        "comms": [dataclasses.asdict(comm) for comm in profile.comms],
        "phases": profile.phases,
        "cells": _columns(profile.cells),
        "pairs": _columns(profile.pairs),
    }
    return json.dumps(document, separators=(",", ":"), allow_nan=False).encode()


def _columns(rows: npt.NDArray[np.void]) -> dict[str, list[Any]]:
    return {name: _values(name, rows[name]) for name in rows.dtype.names or ()}


def _values(name: str, column: npt.NDArray[Any]) -> list[Any]:
    missing = np.isnan(column) if column.dtype.kind == "f" else (column < 0) & (name in _CAN_BE_UNKNOWN)
    return [None if gone else value for value, gone in zip(column.tolist(), missing.tolist(), strict=True)]
