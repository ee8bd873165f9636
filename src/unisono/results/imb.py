"""The Intel MPI Benchmarks (IMB-MPI1): any number of tables a file, one for each benchmark and number of ranks."""

from __future__ import annotations

import re

import numpy as np

from unisono.core.language import N_
from unisono.core.vocabulary import COLLECTIVES, MICROBENCHMARKS, WITH_REQUEST
from unisono.results.found import Found, Row
from unisono.results.lines import complete_lines, count, positive

NAME = "imb"
LABEL = "Intel MPI Benchmarks"

_BANNERS = ("Intel(R) MPI Benchmarks", "Intel (R) MPI Benchmark")
_BENCHMARK = re.compile(r"#?\s*Benchmarking\s+(\S+)\s*")
_RANKS = re.compile(r"#?\s*#processes\s*=\s*([0-9]{1,9})\s*")
_SLOWEST = "t_max[usec]"
_BARE = {name: name for name in COLLECTIVES if name not in (*MICROBENCHMARKS, *WITH_REQUEST, "reduce_scatter_block")}


def recognises(text: str) -> bool:
    return any(banner in text for banner in _BANNERS) or bool(
        re.search(r"^#?\s*Benchmarking \S+", text, re.MULTILINE) and "#repetitions" in text
    )


def read(text: str) -> Found:
    """The collectives in an output; lines that belong to no table are passed over."""
    found = Found(NAME)
    benchmark = ""
    ranks: int | None = None
    columns: list[str] = []
    left_out: set[str] = set()
    run = 0
    for line in complete_lines(text, found):
        if any(
            banner in line for banner in _BANNERS
        ):  # one run measures every collective, and a file may hold several runs
            run += 1
        if name := _BENCHMARK.fullmatch(line):
            benchmark, ranks, columns = name[1], None, []
        elif number := _RANKS.fullmatch(line):
            ranks = int(number[1]) or None
        elif "#repetitions" in line:
            columns = line.split()
        elif columns and len(words := line.split()) >= len(columns):
            values = dict(zip(columns, words, strict=False))
            repetitions = count(values["#repetitions"])
            size = count(values["#bytes"]) if "#bytes" in values else 0
            if repetitions is None or size is None:
                continue
            collective = _BARE.get(benchmark.lower())
            if collective is None or _SLOWEST not in values or ranks is None:
                left_out.add(benchmark or "a table without a name")
                continue
            seconds = positive(values[_SLOWEST], 1e-6)
            if seconds is None or not repetitions or (size == 0) != (collective == "barrier"):
                continue
            found.rows.append(Row(collective, size, np.array([seconds]), repetitions, ranks, run=str(run)))
    if left_out:
        found.note(
            N_("Left out, because Unisono does not tune these collectives: {names}.").format(
                names=", ".join(sorted(left_out))
            )
        )
    found.note(
        N_(
            "IMB prints one average over all repetitions. The average of the slowest rank (t_max) is taken; it "
            "also stands for the median and the quartiles, which IMB does not print."
        )
    )
    return found
