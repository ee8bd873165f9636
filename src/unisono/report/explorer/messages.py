"""Message sizes per call-tree node and communicator, over all ranks: what the histogram and the curve show.

A size is exact, or a range (one power of two), or a mean of which nothing else is known.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from unisono.profile.model import NO_FUNCTION, Profile
from unisono.report.explorer.blob import Column, single, sums, whole
from unisono.report.explorer.tree import CallTree

EXACT_MOST = 64
"""Exact sizes kept for one (node, communicator): those with the most time. The others go into powers of two."""

EXACT, RANGE, MEAN = range(3)
_GROUP = ["node", "comm"]
_KEY = np.dtype([("node", np.int64), ("comm", np.int64), ("sort", np.int64), ("size", np.int64)])
"""`size` is the size, or the power of two of a range."""


def message_table(profile: Profile, tree: CallTree) -> dict[str, Column]:
    """One row a (node, communicator, size); calls without a message size are left out.

    Columns: node; comm (index + 1, 0: not known); sort (EXACT, RANGE, MEAN); low, high, mean in bytes; calls; bytes
    (sent, or received by calls that only receive); time and waiting in seconds.
    """
    chosen = (profile.cells["function"] != NO_FUNCTION) & (profile.cells["size"] >= 0)
    cells = profile.cells[chosen]
    key = np.zeros(len(cells), _KEY)
    key["node"] = tree.node_of_cell[chosen]
    key["comm"] = cells["comm"] + 1
    key["sort"] = np.where(cells["size_min"] < 0, MEAN, np.where(cells["size_min"] == cells["size_max"], EXACT, RANGE))
    power = _power(cells["size"])
    key["size"] = np.where(key["sort"] == RANGE, power, cells["size"])
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
    np.minimum.at(low, place, np.where(key["sort"] == MEAN, cells["size"], cells["size_min"]))
    np.maximum.at(high, place, np.where(key["sort"] == MEAN, cells["size"], cells["size_max"]))
    weights = np.maximum(cells["calls"], 1).astype(np.float64)
    mean = total(cells["size"] * weights) / np.maximum(total(weights), 1)
    return {
        "node": whole(found["node"]),
        "comm": whole(found["comm"]),
        "sort": whole(found["sort"]),
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
    """Where one (node, communicator) has more than EXACT_MOST sizes, all but the heaviest become ranges."""
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
    key["sort"] = np.where(light, RANGE, key["sort"])
    key["size"] = np.where(light, power, key["size"])
