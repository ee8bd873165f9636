"""A profile for speedscope.app and other viewers of flame graphs: stacks with seconds as their weights.

One profile is the sum over all ranks; with few ranks each follows on its own. MPI functions are the innermost frames.
Format: https://www.speedscope.app/file-format-schema.json ("sampled").
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from unisono import __version__
from unisono.core.language import N_
from unisono.profile.recorded import NO_FUNCTION, Cells, Profile

LOST = (N_("a flame graph holds time only: no calls, bytes, message sizes, communicators or waiting"),)
RANKS_MOST = 32
"""With more ranks only their sum is written: the file would be large and its list of profiles of no use."""
_PROGRAM = "program"


def speedscope(profile: Profile) -> bytes:
    """The whole file."""
    frames: dict[tuple[str, str, int], int] = {(_PROGRAM, "", 0): 0}
    stacks = _stacks(profile, frames)
    profiles = [_sampled("all ranks", profile.cells, stacks)]
    if 1 < profile.ranks <= RANKS_MOST and not profile.origin.summed:
        hosts = profile.origin.hosts
        for rank in range(profile.ranks):
            name = f"rank {rank} on {hosts[rank]}" if hosts and hosts[rank] else f"rank {rank}"
            profiles.append(_sampled(name, profile.cells[profile.cells["rank"] == rank], stacks))
    document: dict[str, Any] = {
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "exporter": f"unisono {__version__}",
        "name": profile.origin.command or "profile",
        "activeProfileIndex": 0,
        "shared": {"frames": [_frame(*key) for key in frames]},
        "profiles": profiles,
    }
    return json.dumps(document, separators=(",", ":"), allow_nan=False).encode()


def _frame(name: str, file: str, line: int) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": name}
    if file:
        entry["file"] = file
    if line:
        entry["line"] = line
    return entry


def _stacks(profile: Profile, frames: dict[tuple[str, str, int], int]) -> dict[tuple[int, int], list[int]]:
    """(path, function) -> its frames, the outermost first."""
    stacks: dict[tuple[int, int], list[int]] = {}
    for entry in np.unique(profile.cells[["path", "function"]]):
        path, function = int(entry["path"]), int(entry["function"])
        stack = [frames.setdefault((frame.label, frame.file, frame.line), len(frames)) for frame in profile.chain(path)]
        stack = [0, *reversed(stack)]
        if function != NO_FUNCTION:
            stack.append(frames.setdefault((profile.functions[function], "", 0), len(frames)))
        stacks[path, function] = stack
    return stacks


def _sampled(name: str, cells: Cells, stacks: dict[tuple[int, int], list[int]]) -> dict[str, Any]:
    """Equal stacks together, in the order of the call tree, so that the left-heavy and the time view agree."""
    keys, inverse = np.unique(cells[["path", "function"]], return_inverse=True)
    times = np.zeros(len(keys))
    np.add.at(times, inverse, cells["time"])
    order = sorted(range(len(keys)), key=lambda n: stacks[int(keys[n]["path"]), int(keys[n]["function"])])
    order = [n for n in order if times[n] > 0]
    return {
        "type": "sampled",
        "name": name,
        "unit": "seconds",
        "startValue": 0,
        "endValue": float(times.sum()),
        "samples": [stacks[int(keys[n]["path"]), int(keys[n]["function"])] for n in order],
        "weights": [float(times[n]) for n in order],
    }
