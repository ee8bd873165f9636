"""Other benchmarks as a study starts them: IMB and OSU, in their own words."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.core.vocabulary import Case
from unisono.machine.description import Machine
from unisono.results import imb, osu
from unisono.study.config import Measure

_IMB = {
    "allreduce": "Allreduce",
    "reduce": "Reduce",
    "bcast": "Bcast",
    "allgather": "Allgather",
    "allgatherv": "Allgatherv",
    "alltoall": "Alltoall",
    "alltoallv": "Alltoallv",
    "gather": "Gather",
    "scatter": "Scatter",
    "barrier": "Barrier",
}
_OSU = {name: f"osu_{name}" for name in _IMB}
_CACHE_LINE = 64


@dataclass(frozen=True, slots=True)
class Words:
    """What follows the launcher's own words; `sizes` goes into a file that `{sizes}` stands for, where it is used."""

    argv: tuple[str, ...]
    sizes: tuple[int, ...] = ()

    def with_file(self, path: Path) -> list[str]:
        return [str(path) if word == "{sizes}" else word for word in self.argv]


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One of them. `collectives` are those that it and its reader know."""

    reader: ModuleType
    usual: str
    """The program's name where the user names none; of OSU's, which has one a collective, its directory's place."""
    collectives: dict[str, str]
    words: Callable[[Path, Case, Sequence[int], Measure, Machine], Words]

    @property
    def label(self) -> str:
        return str(self.reader.LABEL)


def _imb(program: Path, case: Case, sizes: Sequence[int], measure: Measure, machine: Machine) -> Words:
    """As Oracle's guides call it: -msglog, -npmin, and where asked for -off_cache and -mem (IMB user guide)."""
    argv = [str(program), _IMB[case.collective], "-npmin", str(case.ranks)]
    if case.collective != "barrier":
        argv += ["-msglog", logs] if (logs := _doubled(sizes)) else ["-msglen", "{sizes}"]
    if measure.off_cache:
        last = machine.last_level_cache
        argv += ["-off_cache", f"{last.bytes / (1 << 20):g},{_CACHE_LINE}" if last else "-1"]
    if measure.memory is not None:
        argv += ["-mem", f"{measure.memory / case.ppn / (1 << 30):.3g}"]  # GiB a rank
    return Words(tuple(argv), tuple(sizes))


def _doubled(sizes: Sequence[int]) -> str | None:
    """ "3:20" for all powers of two from 8 B to 1 MiB; None for other sizes."""
    first, last = min(sizes).bit_length() - 1, max(sizes).bit_length() - 1
    return f"{first}:{last}" if sorted(sizes) == [1 << log for log in range(first, last + 1)] else None


def _osu(program: Path, case: Case, sizes: Sequence[int], measure: Measure, machine: Machine) -> Words:
    """-f prints the slowest rank's time. OSU doubles sizes from the first to the last; others cannot be asked for."""
    argv = [str(program / _OSU[case.collective]), "-f"]
    if case.collective != "barrier":
        argv += ["-m", f"{min(sizes)}:{max(sizes)}"]
    return Words(tuple(argv))


BENCHMARKS = {
    "imb": Benchmark(imb, "IMB-MPI1", _IMB, _imb),
    "osu": Benchmark(osu, "osu_allreduce", _OSU, _osu),
}
"""By the name that `--benchmark` and `[measure] benchmark` have for them."""


def located(name: str, given: str | None) -> Path:
    """The benchmark's program, of OSU the directory of its programs. Raises UserError where it cannot be run."""
    benchmark = BENCHMARKS[name]
    word = given or benchmark.usual
    if name == "osu" and given is not None and Path(given).is_dir():
        word = str(Path(given) / benchmark.usual)
    found = shutil.which(os.path.expanduser(word))  # noqa: PTH111 (a Path would lose the `./` that names no PATH)
    if found is None:
        raise UserError(
            _("{word}: is not a program that can be run; name {label} with --benchmark-program PATH").format(
                word=word, label=benchmark.label
            )
        )
    path = Path(found).absolute()
    return path.parent if name == "osu" else path


def unknown(name: str, collectives: Sequence[str]) -> list[str]:
    """Those of the collectives that a benchmark does not measure."""
    return [collective for collective in collectives if collective not in BENCHMARKS[name].collectives]
