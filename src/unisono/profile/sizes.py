"""The histogram of message sizes of a hot spot."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unisono.profile.recorded import UNKNOWN, Cells

EXACT = "exact"
RANGE = "range"
MEAN = "mean"
NONE = "none"


@dataclass(frozen=True, slots=True)
class SizeBin:
    """Calls with one message size, or with sizes that are only known together."""

    kind: str
    """"exact": every call has `size`. "range": sizes from `least` to `most`, their mean is `size`. "mean": only the
    mean is known, sizes are assumed uniform. "none": no message, or its size is not known."""
    size: int
    """Bytes as IMB counts them; UNKNOWN for "none"."""
    least: int
    most: int
    calls: int
    """On all ranks."""
    bytes: int
    """Sent by all ranks, by Score-P's convention; UNKNOWN where that is not known."""
    time: float
    """Seconds, summed over ranks."""
    waiting: float
    """Of `time`; NaN where not measured."""


def size_bins(rows: Cells) -> tuple[SizeBin, ...]:
    """One for every exact size, one for every power of two that rows with several sizes lie in, one for all means.

    The most time first. Rows are those of one hot spot, from all ranks.
    """
    exact = (rows["size_min"] == rows["size_max"]) & (rows["size_min"] >= 0)
    mean = ~exact & (rows["size_min"] < 0) & (rows["size"] >= 0)
    several = ~exact & (rows["size_min"] >= 0)
    none = ~(exact | mean | several)
    powers = np.zeros(len(rows), np.int64)
    powers[several] = np.frexp(rows["size_min"][several].astype(np.float64))[1]
    bins = [
        *_merged(rows[exact], rows["size"][exact], EXACT),
        *_merged(rows[several], powers[several], RANGE),
        *_merged(rows[mean], powers[mean], MEAN),
        *_merged(rows[none], powers[none], NONE),
    ]
    return tuple(sorted(bins, key=lambda entry: (-entry.time, entry.size)))


def _merged(rows: Cells, key: npt.NDArray[np.int64], kind: str) -> list[SizeBin]:
    """Rows of equal key together."""
    if not len(rows):
        return []
    order = np.argsort(key, kind="stable")
    rows, key = rows[order], key[order]
    starts = np.flatnonzero(np.concatenate(([True], key[1:] != key[:-1])))
    calls = np.add.reduceat(np.maximum(rows["calls"], 0), starts)
    # in floating point: calls times bytes of a long run passes 2^63
    volume = np.add.reduceat(np.maximum(rows["calls"], 0) * np.maximum(rows["size"], 0).astype(np.float64), starts)
    time = np.add.reduceat(rows["time"], starts)
    sent = np.add.reduceat(np.maximum(rows["sent"], 0), starts)
    sent_known = np.minimum.reduceat(rows["sent"], starts) >= 0
    measured = ~np.isnan(rows["waiting"])
    waiting = np.add.reduceat(np.where(measured, rows["waiting"], 0.0), starts)
    any_measured = np.logical_or.reduceat(measured, starts)
    least = np.minimum.reduceat(rows["size_min"], starts)
    most = np.maximum.reduceat(rows["size_max"], starts)
    firsts = rows["size"][starts]
    return [
        SizeBin(
            kind,
            _size(kind, int(firsts[n]), float(volume[n]), int(calls[n])),
            int(least[n]),
            int(most[n]),
            int(calls[n]),
            int(sent[n]) if sent_known[n] else UNKNOWN,
            float(time[n]),
            float(waiting[n]) if any_measured[n] else float("nan"),
        )
        for n in range(len(starts))
    ]


def _size(kind: str, first: int, volume: float, calls: int) -> int:
    if kind in (EXACT, NONE) or calls == 0:
        return first
    return round(volume / calls)
