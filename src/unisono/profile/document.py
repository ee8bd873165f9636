"""What `show` shows of a profile as one JSON-able document."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from unisono.profile.flat import FlatRow, flat_table
from unisono.profile.hot import HotSpot, hot_spots, other
from unisono.profile.recorded import UNKNOWN, Profile, has_request
from unisono.profile.words import Callers, answer, late_sentences


def as_dict(profile: Profile, *, hot: int | None = None) -> dict[str, Any]:
    """Everything shown, whole: all regions and hot spots (or the first `hot`) with call paths and histograms.

    What is NaN or UNKNOWN in the profile is None.
    """
    spots = hot_spots(profile, hot)
    flat = flat_table(profile)
    callers = Callers(profile, spots)
    return {
        "answer": answer(profile, spots),
        "late": late_sentences(spots),
        "origin": {key: _plain(value) for key, value in dataclasses.asdict(profile.origin).items()},
        "notes": list(profile.notes),
        "ranks": profile.ranks,
        "wall_seconds": profile.wall.tolist(),
        "groups": [_flat_dict(row) for row in flat.groups],
        "regions": [_flat_dict(row) for row in flat.regions],
        "hot_spots": [_spot_dict(spot, callers) for spot in spots],
        "other": {key: _plain(value) for key, value in dataclasses.asdict(other(profile, spots)).items()},
    }


def _flat_dict(row: FlatRow) -> dict[str, Any]:
    return {
        "group": row.group,
        "region": row.region,
        "visits": _known(row.visits),
        "seconds": row.time,
        "share": row.share,
        "seconds_per_visit": _plain(row.per_visit),
    }


def _spot_dict(spot: HotSpot, callers: Callers) -> dict[str, Any]:
    return {
        "function": spot.function,
        "collective": spot.collective,
        "caller": callers.of(spot)[0] or None,
        "path": [{"function": frame.label, "file": frame.file, "line": frame.line} for frame in spot.frames],
        "communicator": {"size": _known(spot.comm.size), "nodes": _known(spot.comm.nodes)} if spot.comm else None,
        "phase": spot.phase or None,
        "ranks": spot.ranks,
        "calls": _known(spot.visits),
        "calls_per_rank": dataclasses.asdict(spot.calls),
        "seconds": spot.time,
        "seconds_per_rank": {**dataclasses.asdict(spot.seconds), "imbalance": spot.seconds.imbalance},
        "share": spot.share,
        "waiting_seconds": _plain(spot.waiting),
        "waiting_share": _plain(spot.waiting_share),
        "call_seconds": spot.called if has_request(spot.function) else None,
        "completion_seconds": _plain(spot.completion) if has_request(spot.function) else None,
        "completed_calls": _known(spot.completed),
        "late": None if spot.late is None else dataclasses.asdict(spot.late),
        "bytes_sent": _known(spot.sent),
        "bytes_received": _known(spot.received),
        "sizes": [
            {
                "kind": entry.kind,
                "size": _known(entry.size),
                "least": _known(entry.least),
                "most": _known(entry.most),
                "calls": entry.calls,
                "bytes_sent": _known(entry.bytes),
                "seconds": entry.time,
                "waiting_seconds": _plain(entry.waiting),
            }
            for entry in spot.sizes
        ],
    }


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value


def _known(value: int) -> int | None:
    return None if value == UNKNOWN else value
