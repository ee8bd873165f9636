"""What must hold in every profile, so that whoever reads one may index without looking."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from unisono.core.language import _
from unisono.profile.recorded import UNKNOWN, Profile
from unisono.profile.steps import WAIT

DEPTH_MOST = 1000
"""Recorders keep some tens of frames. Whoever follows paths up may count on an end."""
_INT16 = 2**15 - 1
_INT32 = 2**31 - 1
_INT64 = 2**63 - 1
_SUM_MOST = 2.0**62
"""Bytes and calls of a whole run stay below, so that they can be added up without looking."""
_SECONDS_MOST = 1e12
"""Seconds of any sum stay below (30,000 years), so that shares of them are numbers."""


def problem(profile: Profile) -> str:
    """The first thing that is wrong with a profile, as half a sentence; "" for a sound one."""
    return _tree(profile) or _cells(profile) or _rest(profile) or _late(profile) or _step(profile)


def _tree(profile: Profile) -> str:
    if not profile.functions or profile.functions[0] != "":
        return _('the first function is not ""')
    if not profile.phases or profile.phases[0] != "":
        return _('the first phase is not ""')
    if not profile.paths:
        return _("there is no root path")
    depth = [0]
    for index, path in enumerate(profile.paths[1:], 1):
        if not 0 <= path.parent < index:
            return _("path {index} does not come after its parent").format(index=index)
        depth.append(depth[path.parent] + 1)
        if depth[-1] > DEPTH_MOST:
            return _("path {index} is more than {depth_most:,} calls deep").format(index=index, depth_most=DEPTH_MOST)
        if not 0 <= path.frame < len(profile.frames):
            return _("path {index} names a frame that is not there").format(index=index)
    if any(not (0 <= frame.line <= _INT32 and UNKNOWN <= frame.offset <= _INT64) for frame in profile.frames):
        return _("a frame's line or offset is out of range")
    shapes = [value for comm in profile.comms for value in (comm.size, comm.nodes, comm.created)]
    if any(not UNKNOWN <= value <= _INT32 for value in shapes):
        return _("a communicator's shape is out of range")
    return ""


def _cells(profile: Profile) -> str:
    cells = profile.cells
    if name := _lost(profile, cells):
        return _("a row names a {name} that is not there").format(name=name)
    for name in ("size", "size_min", "size_max", "calls", "sent", "received", "completed"):
        if np.any(cells[name] < UNKNOWN):
            return _("a row has a negative {name}").format(name=name)
        if cells[name].astype(np.float64).sum() > _SUM_MOST:
            return _("the rows' {name} is impossibly large").format(name=name)
    if np.any(cells["size_min"] > cells["size_max"]):
        return _("a row's smallest size is above its largest")
    if np.any(~np.isfinite(cells["time"]) | (cells["time"] < 0)):
        return _("a row's time is not a number of seconds")
    for name in ("time_min", "time_max", "waiting", "completion"):
        if np.any(np.isinf(cells[name]) | (cells[name] < 0)):
            return _("a row's {name} is not a number of seconds").format(name=name)
    with np.errstate(over="ignore"):
        for name in ("time", "time_min", "time_max", "waiting", "completion"):
            if np.nansum(cells[name].astype(np.float64)) > _SECONDS_MOST:
                return _("the rows' {name} is impossibly long").format(name=name)
    return ""


def _rest(profile: Profile) -> str:
    if np.any(~np.isfinite(profile.wall) | (profile.wall < 0)):
        return _("a rank's wall time is not a number of seconds")
    with np.errstate(over="ignore"):
        if profile.wall.sum() > _SECONDS_MOST:
            return _("the ranks' wall time is impossibly long")
    pairs = profile.pairs
    for name in ("source", "target"):
        if not _within(pairs[name], 0, profile.ranks):
            return _("a pair's {name} is not a rank of it").format(name=name)
    if np.any(pairs["calls"] < 0) or np.any(pairs["bytes"] < 0):
        return _("a pair has negative calls or bytes")
    if len(profile.origin.hosts) not in (0, profile.ranks):
        return _("there are not as many hosts as ranks")
    return ""


def _late(profile: Profile) -> str:
    late = profile.late
    name = _lost(profile, late) or ("" if _within(late["peer"], 0, profile.ranks) else "peer")
    if name:
        return _("a wait for a message names a {name} that is not there").format(name=name)
    if np.any(~np.isfinite(late["time"]) | (late["time"] < 0)) or late["time"].sum() > _SECONDS_MOST:
        return _("a wait for a message is not a number of seconds")
    return ""


def _lost(profile: Profile, rows: npt.NDArray[np.void]) -> str:
    """The first column of these rows by which one of them leads nowhere; "" where all lead somewhere."""
    for name, low, end in (
        ("path", 0, len(profile.paths)),
        ("function", 0, len(profile.functions)),
        ("comm", UNKNOWN, len(profile.comms)),
        ("phase", 0, len(profile.phases)),
        ("rank", 0, profile.ranks),
    ):
        if not _within(rows[name], low, end):
            return name
    return ""


def _step(profile: Profile) -> str:
    step = profile.step
    ends = {"rank": profile.ranks, "peer": profile.ranks, "operation": WAIT + 1, "bytes": _INT32, "tag": _INT16}
    for name, end in ends.items():
        if not _within(step[name], 0, end):
            return _("a replayed message has an impossible {name}").format(name=name)
    return ""


def _within(column: npt.NDArray[np.integer[Any]], low: int, end: int) -> bool:
    return bool(np.all((column >= low) & (column < end)))
