"""The OSU Micro-Benchmarks: one table for each program that was run, without the number of ranks."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np

from unisono.core.language import N_
from unisono.results.found import Found, Row
from unisono.results.lines import complete_lines, count, positive

NAME = "osu"
LABEL = "OSU Micro-Benchmarks"

_TITLE = re.compile(r"#\s*OSU MPI(?:-(?P<memory>\S+(?: MANAGED)?))? (?P<name>.+?) Latency Test.*")
_TYPE = re.compile(r"#\s*Datatype: *(\w+)\.?")
_COLUMN = re.compile(r"Transmit Size|Size|(?:Avg|Min|Max) Latency\(us\)|Iterations|Validation|P\d+ Tail Lat\(us\)")
_SLOWEST, _AVERAGE = "Max Latency(us)", "Avg Latency(us)"
_FLOAT = "MPI_FLOAT"
"""What reductions add up in OSU until 7.0, and in IMB; OSU from 7.1 on takes characters unless -T says otherwise."""
REDUCTIONS = ("allreduce", "reduce")
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


@dataclass(slots=True)
class _Program:
    """What one program printed: a table, or with -T one for each data type."""

    number: int
    collective: str | None
    memory: str
    """The device whose memory held the buffers; "" for the host's."""
    type: str = ""
    columns: list[str] = field(default_factory=list)
    tables: dict[str, list[Row]] = field(default_factory=dict)

    def take(self, line: str, found: Found) -> None:
        """A line below the title, whatever it is."""
        if typed := _TYPE.fullmatch(line.strip()):
            self.type, self.columns = typed[1], []
        elif line.lstrip().startswith("#"):
            self.columns = _COLUMN.findall(line) or self.columns
        elif self.collective and self.columns and len(words := line.split()) >= len(self.columns):
            self._row(self.collective, dict(zip(self.columns, words, strict=False)), found)

    def _row(self, collective: str, values: dict[str, str], found: Found) -> None:
        size = 0 if collective == "barrier" else count(values.get("Size", ""))
        seconds = positive(values.get(_SLOWEST) or values.get(_AVERAGE, ""), 1e-6)
        if size is None or seconds is None or (size == 0) != (collective == "barrier"):
            return
        if "Transmit Size" in values:
            found.note(N_("Left out: tables of derived data types (-D), whose data are not contiguous."))
            return
        if values.get("Validation", "Pass") != "Pass":
            found.note(N_("Left out: times of calls whose result OSU found wrong (Fail under Validation)."))
            return
        repetitions = count(values.get("Iterations", "1")) or 1
        row = Row(
            collective,
            size,
            np.array([seconds]),
            repetitions,
            run=str(self.number),
            kind=self._kind(_SLOWEST in values),
        )
        self.tables.setdefault(self.type, []).append(row)

    def _kind(self, slowest: bool) -> str:
        """In OSU's own words, which no language has others for."""
        type = (self.type or _FLOAT) if self.collective in REDUCTIONS else ""
        return ", ".join(word for word in (_SLOWEST if slowest else _AVERAGE, type, self.memory) if word)

    def end(self, found: Found) -> None:
        """One table of several: for reductions that of floating-point numbers, else any, because bytes are bytes."""
        if not self.tables:
            return
        chosen = _FLOAT if _FLOAT in self.tables else next(iter(self.tables))
        found.rows += self.tables[chosen]
        if len(self.tables) > 1:
            found.note(
                N_(
                    "Where tables differ only in the data type, one of them was taken: that of MPI_FLOAT if there is "
                    "one."
                )
            )
        if self.collective in REDUCTIONS and chosen not in ("", _FLOAT):
            found.note(
                N_(
                    "The reductions did not use floating-point numbers, so they may take another time than in "
                    "most programs: OSU from 7.1 on adds up characters without -T MPI_FLOAT."
                )
            )
        if self.memory:
            found.note(N_("The buffers were in the memory of a device, so the decision holds only for such buffers."))


def recognises(text: str) -> bool:
    return bool(re.search(r"^#\s*OSU MPI", text, re.MULTILINE))


def read(text: str) -> Found:
    """The collectives in an output; lines that belong to no table are passed over."""
    found = Found(NAME)
    left_out: set[str] = set()
    program = _Program(0, None, "")
    for line in complete_lines(text, found):
        if line.lstrip().startswith("#") and "OSU MPI" in line:
            program.end(found)
            title = _TITLE.fullmatch(line.strip())
            name = title["name"] if title else line.strip("# \t")
            collective = _NAMES.get(name.lower()) if title else None
            program = _Program(program.number + 1, collective, (title["memory"] or "") if title else "")
            if collective is None:
                left_out.add(name)
        else:
            program.take(line, found)
    program.end(found)
    if left_out:
        found.note(
            N_("Left out, because Unisono does not tune these collectives: {names}.").format(
                names=", ".join(sorted(left_out))
            )
        )
    found.note(
        N_(
            "OSU prints one average over all repetitions. The average of the slowest rank is taken; it also "
            "stands for the median and the quartiles, which OSU does not print."
        )
        if any(_SLOWEST in row.kind for row in found.rows)
        else N_(
            "OSU prints one average over all repetitions and all ranks, which is less than the time of the "
            "slowest rank; it also stands for the median and the quartiles, which OSU does not print."
        )
    )
    return found
