"""ReproMPI: "#@key=value" lines, then a table whose columns depend on version and options."""

from __future__ import annotations

import re
from collections import defaultdict

import numpy as np

from unisono.core.language import N_
from unisono.core.vocabulary import COLLECTIVES, MICROBENCHMARKS, WITH_REQUEST
from unisono.results.found import Found, Row
from unisono.results.lines import complete_lines, count, positive

NAME = "reprompi"
LABEL = "ReproMPI"

_KEY = re.compile(r"#@(\w+)=(.*)")
_TIME = ("runtime_sec", "median_sec", "median_runtime_sec", "mean_sec", "mean_runtime_sec")
"""The column that is taken: the first that is there."""
_SIZE = ("count", "msize")
_NAMES = {f"mpi_{name}": name for name in COLLECTIVES if name not in (*MICROBENCHMARKS, *WITH_REQUEST)}


def recognises(text: str) -> bool:
    return "#@reproMPI" in text or bool(
        re.search(r"^\s*test\s+.*(runtime_sec|mean_sec|median_sec)", text, re.MULTILINE)
    )


def read(text: str) -> Found:
    """The collectives in an output; lines that belong to no table are passed over."""
    found = Found(NAME)
    keys: dict[str, str] = {}
    columns: list[str] = []
    single: dict[tuple[str, int, int | None, str], list[float]] = defaultdict(list)
    left_out: set[str] = set()
    table = 0
    for line in complete_lines(text, found):
        words = line.split()
        if key := _KEY.fullmatch(line.strip()):
            if columns:  # the head of another run in the same file
                keys, columns = {}, []
            keys[key[1]] = key[2].strip()
        elif words[:1] == ["test"] and any(name in words for name in _TIME):
            columns, table = words, table + 1
        elif columns and len(words) == len(columns) and words[0].lower().startswith("mpi_"):
            values = dict(zip(columns, words, strict=True))
            collective = _NAMES.get(words[0].lower())
            if collective is None:
                left_out.add(words[0])
                continue
            elements = count(next((values[name] for name in _SIZE if name in values), ""))
            seconds = positive(next(values[name] for name in _TIME if name in values))
            unit = count(keys.get("datatype_extent_bytes", "1"))
            if elements is None or not unit or seconds is None:
                continue
            if "datatype_extent_bytes" not in keys:
                found.note(N_("A table does not say how long an element is: its counts were taken as bytes."))
            size = 0 if collective == "barrier" else elements * unit
            if size == 0 and collective != "barrier":
                continue
            ranks = count(keys.get("nprocs", "")) or None
            if "runtime_sec" in values:
                single[collective, size, ranks, str(table)].append(seconds)
            else:
                times = count(values.get("valid_nrep", values.get("nrep", ""))) or 1
                found.rows.append(Row(collective, size, np.array([seconds]), times, ranks, run=str(table)))
                found.note(N_("A summary holds one number a size, which also stands for the quartiles."))
    for (collective, size, ranks, run), times_ in single.items():
        found.rows.append(Row(collective, size, np.array(times_), len(times_), ranks, run=run))
    if left_out:
        found.note(
            N_("Left out, because Unisono does not tune these collectives: {names}.").format(
                names=", ".join(sorted(left_out))
            )
        )
    return found
