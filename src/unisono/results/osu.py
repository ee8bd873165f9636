"""The OSU Micro-Benchmarks: one table for each program that was run, without the number of ranks."""

from __future__ import annotations

import re

import numpy as np

from unisono.core.language import N_
from unisono.results.found import Found, Row
from unisono.results.lines import complete_lines, count, positive

NAME = "osu"
LABEL = "OSU Micro-Benchmarks"

_TITLE = re.compile(r"#\s*OSU MPI[^ ]* (.+?) Latency Test.*")
_COLUMN = re.compile(r"(Size|Avg Latency\(us\)|Min Latency\(us\)|Max Latency\(us\)|Iterations|P\d+ Tail Lat\(us\))")
_NAMES = {
    "allreduce": "allreduce",
    "reduce": "reduce",
    "broadcast": "bcast",
    "allgather": "allgather",
    "allgatherv": "allgatherv",
    "all-to-all personalized exchange": "alltoall",
    "all-to-allv personalized exchange": "alltoallv",
    "gather": "gather",
    "scatter": "scatter",
    "barrier": "barrier",
}


def recognises(text: str) -> bool:
    return bool(re.search(r"^#\s*OSU MPI", text, re.MULTILINE))


def read(text: str) -> Found:
    """The collectives in an output; lines that belong to no table are passed over."""
    found = Found(NAME)
    collective: str | None = None
    columns: list[str] = []
    left_out: set[str] = set()
    table, slowest = 0, False
    for line in complete_lines(text, found):
        if line.lstrip().startswith("#"):
            if "OSU MPI" in line:
                title = _TITLE.fullmatch(line.strip())
                name = title[1].lower() if title else line.strip("# \t")
                collective, columns, table = _NAMES.get(name), [], table + 1
                if collective is None:
                    left_out.add(title[1] if title else name)
            elif named := _COLUMN.findall(line):
                columns = named
        elif collective and len(words := line.split()) >= max(1, len(columns)) and columns:
            values = dict(zip(columns, words, strict=False))
            size = 0 if collective == "barrier" else count(values.get("Size", ""))
            slowest_word = values.get("Max Latency(us)")
            seconds = positive(slowest_word or values.get("Avg Latency(us)", ""), 1e-6)
            slowest = slowest or slowest_word is not None
            if size is None or seconds is None or (size == 0) != (collective == "barrier"):
                continue
            repetitions = count(values.get("Iterations", "1")) or 1
            found.rows.append(Row(collective, size, np.array([seconds]), repetitions, run=str(table)))
    if left_out:
        found.note(
            N_("Left out, because they are no collectives that are tuned: {names}.").format(
                names=", ".join(sorted(left_out))
            )
        )
    found.note(
        N_(
            "OSU gives one average over all repetitions; taken is that of the slowest rank, which also stands for the "
            "median and the quartiles, which OSU does not tell."
        )
        if slowest
        else N_(
            "OSU gives one average over all repetitions and all ranks, less than the slowest rank takes; it also "
            "stands for the median and the quartiles, which OSU does not tell."
        )
    )
    return found
