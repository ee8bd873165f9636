"""Message sizes per call-tree node and communicator, over all ranks: what the histogram and the curve show.

A size is exact, or a range (one power of two), or a mean of which nothing else is known.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from unisono.profile.recorded import NO_FUNCTION, Profile
from unisono.report.explorer.blob import Column, single, sums, whole
from unisono.report.explorer.tree import CallTree

EXACT_MOST = 64
"""Exact sizes kept for one (node, communicator): those with the most time. The others go into powers of two."""

EXACT, RANGE, MEAN = range(3)
Index = npt.NDArray[np.int64]


def message_table(profile: Profile, tree: CallTree) -> dict[str, Column]:
    """One row a (node, communicator, size); calls without a message size are left out.

    Columns: node; comm (index + 1, 0: not known); sort (EXACT, RANGE, MEAN); low, high, mean in bytes; calls; bytes
    (sent, or received by calls that only receive); time and waiting in seconds.
    """
    chosen = (profile.cells["function"] != NO_FUNCTION) & (profile.cells["size"] >= 0)
    cells = profile.cells[chosen]
    node, comm = tree.node_of_cell[chosen], cells["comm"].astype(np.int64) + 1
    sort = np.where(cells["size_min"] < 0, MEAN, np.where(cells["size_min"] == cells["size_max"], EXACT, RANGE))
    power = np.frexp(cells["size"].astype(np.float64))[1].astype(np.int64)  # 0 for 0, else 1 + floor(log2(size))
    seconds = cells["time"].astype(np.float64)
    sort = np.where(_light(_combined(node, comm), _combined(sort, cells["size"]), seconds), RANGE, sort)
    key = _combined(node, comm, sort, np.where(sort == RANGE, power, cells["size"]))
    found, first, place = np.unique(key, return_index=True, return_inverse=True)
    place = np.asarray(place, np.int64).reshape(-1)

    def total(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return sums(place, values, len(found))

    calls = total(np.maximum(cells["calls"], 0).astype(np.float64))
    sent, received = cells["sent"].astype(np.float64), cells["received"].astype(np.float64)
    low = np.full(len(found), np.iinfo(np.int64).max)
    high = np.zeros(len(found), np.int64)
    np.minimum.at(low, place, np.where(sort == MEAN, cells["size"], cells["size_min"]))
    np.maximum.at(high, place, np.where(sort == MEAN, cells["size"], cells["size_max"]))
    weights = np.maximum(cells["calls"], 1).astype(np.float64)
    mean = total(cells["size"] * weights) / np.maximum(total(weights), 1)
    return {
        "node": whole(node[first]),
        "comm": whole(comm[first]),
        "sort": whole(sort[first]),
        "low": whole(low),
        "high": whole(high),
        "mean": mean.astype("f8"),
        "calls": whole(calls),
        "bytes": whole(total(np.maximum(np.where(sent > 0, sent, received), 0))),
        "time": single(total(seconds)),
        "waiting": single(total(np.nan_to_num(cells["waiting"].astype(np.float64)))),
    }


def _combined(*parts: Index) -> Index:
    """One number a row, the same for rows that agree in all parts, in the order of the parts."""
    key = np.zeros(len(parts[0]), np.int64)
    for part in parts:
        values, place = np.unique(part, return_inverse=True)
        key = key * max(len(values), 1) + np.asarray(place, np.int64).reshape(-1)
    return key


def _light(group: Index, size: Index, seconds: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Rows whose size is not among the EXACT_MOST of their group that take the most time."""
    found, first, place = np.unique(_combined(group, size), return_index=True, return_inverse=True)
    place = np.asarray(place, np.int64).reshape(-1)
    weight, groups = sums(place, seconds, len(found)), group[first]
    order = np.lexsort((-weight, groups))
    starts = np.searchsorted(groups[order], groups[order])
    position = np.zeros(len(found), np.int64)
    position[order] = np.arange(len(order)) - starts
    return np.asarray(position[place] >= EXACT_MOST)
