"""Message sizes per call-tree node and communicator, over all ranks: what the histogram and the curve show."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from unisono.profile.model import NO_FUNCTION, Profile
from unisono.report.explorer.blob import Column, single, sums, whole
from unisono.report.explorer.tree import CallTree

EXACT_MOST = 64
"""Exact sizes kept for one (node, communicator): those with the most time. The others go into powers of two."""

_GROUP = ["node", "comm"]
_KEY = np.dtype([("node", np.int64), ("comm", np.int64), ("low", np.int64), ("high", np.int64)])


def message_table(profile: Profile, tree: CallTree) -> dict[str, Column]:
    """Columns node, comm (index + 1; 0: not known), low, high, mean (bytes), calls, bytes, time, waiting: one row a
    (node, communicator, size). `low` equals `high` where the size is exact; otherwise the row holds sizes of one power
    of two. Calls without a message size are left out. `bytes` are those sent, or received by calls that only receive.
    """
    chosen = (profile.cells["function"] != NO_FUNCTION) & (profile.cells["size"] >= 0)
    cells = profile.cells[chosen]
    key = np.zeros(len(cells), _KEY)
    key["node"] = tree.node_of_cell[chosen]
    key["comm"] = cells["comm"] + 1
    exact = cells["size_min"] == cells["size_max"]
    power = _power(cells["size"])
    key["low"] = np.where(exact, cells["size"], -1 - power)
    key["high"] = np.where(exact, cells["size"], -1)
    seconds = cells["time"].astype(np.float64)
    _fold(key, power, seconds)
    found, place = np.unique(key, return_inverse=True)
    place = np.asarray(place, np.int64).reshape(-1)

    def total(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return sums(place, values, len(found))

    calls = total(np.maximum(cells["calls"], 0).astype(np.float64))
    sent, received = cells["sent"].astype(np.float64), cells["received"].astype(np.float64)
    low = np.full(len(found), np.iinfo(np.int64).max)
    high = np.zeros(len(found), np.int64)
    np.minimum.at(low, place, np.where(cells["size_min"] >= 0, cells["size_min"], cells["size"]))
    np.maximum.at(high, place, np.maximum(cells["size_max"], cells["size"]))
    weights = np.maximum(cells["calls"], 1).astype(np.float64)
    mean = total(cells["size"] * weights) / np.maximum(total(weights), 1)
    return {
        "node": whole(found["node"]),
        "comm": whole(found["comm"]),
        "low": whole(low),
        "high": whole(high),
        "mean": mean.astype("f8"),
        "calls": whole(calls),
        "bytes": whole(total(np.maximum(np.where(sent > 0, sent, received), 0))),
        "time": single(total(seconds)),
        "waiting": single(total(np.nan_to_num(cells["waiting"].astype(np.float64)))),
    }


def _power(sizes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """0 for 0, else 1 + floor(log2(size))."""
    return np.frexp(np.maximum(sizes, 0).astype(np.float64))[1].astype(np.int64)


def _fold(key: npt.NDArray[np.void], power: npt.NDArray[np.int64], seconds: npt.NDArray[np.float64]) -> None:
    """Where one (node, communicator) has more than EXACT_MOST sizes, all but the heaviest become powers of two."""
    found, place = np.unique(key, return_inverse=True)
    if not len(found):
        return
    place = np.asarray(place, np.int64).reshape(-1)
    weight = sums(place, seconds, len(found))
    order = np.lexsort((-weight, found["comm"], found["node"]))
    groups = found[_GROUP][order]
    fresh = np.concatenate([[True], groups[1:] != groups[:-1]])
    position = np.arange(len(order)) - np.maximum.accumulate(np.where(fresh, np.arange(len(order)), 0))
    rank = np.zeros(len(found), np.int64)
    rank[order] = position
    light = rank[place] >= EXACT_MOST
    key["low"] = np.where(light, -1 - power, key["low"])
    key["high"] = np.where(light, -1, key["high"])
