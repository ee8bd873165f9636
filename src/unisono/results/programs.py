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
_OSU_PLACES = (
    "",
    "mpi/collective",
    "mpi/collective/blocking",
    "libexec/osu-micro-benchmarks/mpi/collective",
    "libexec/osu-micro-benchmarks/mpi/collective/blocking",
    "c/mpi/collective/blocking",
)
"""Below the directory that is named: itself, what `make install` makes, and where 7 is built."""
_OSU_FLOATS = ("-T", "MPI_FLOAT")
_OSU_KNOWS_TYPES = b"# Datatype: %s"
"""In each program that knows -T (7.1 and later), because it prints this; others end at an option they do not know."""
_CACHE_LINE = 64
_PROGRAM_MOST = 64 << 20
"""Of a program, which is looked through for what it can print."""


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
    takes: Callable[[Sequence[int]], list[int]]
    """Those of the message sizes of a case that it can be asked for in one run."""

    def file(self, program: Path, collective: str) -> Path:
        """What is started for a collective; `program` is the directory of benchmarks that have a program for each."""
        return program / self.collectives[collective] if program.is_dir() else program

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
    path = program / _OSU[case.collective]
    argv = [str(path), "-f"]
    if case.collective != "barrier":
        argv += ["-m", f"{min(sizes)}:{max(sizes)}"]
    if case.collective in osu.REDUCTIONS and _knows_types(path):
        argv += _OSU_FLOATS  # it would add up characters
    return Words(tuple(argv))


def _knows_types(program: Path) -> bool:
    try:
        with program.open("rb") as file:
            return _OSU_KNOWS_TYPES in file.read(_PROGRAM_MOST)
    except OSError:
        return False


def _all(sizes: Sequence[int]) -> list[int]:
    return list(sizes)


def _doubling(sizes: Sequence[int]) -> list[int]:
    """Those of the sizes that doubling the first leads to; a barrier has but the size 0."""
    first = max(min(sizes), 1)
    return [size for size in sizes if size % first == 0 and (size // first).bit_count() <= 1]


BENCHMARKS = {
    "imb": Benchmark(imb, "IMB-MPI1", _IMB, _imb, _all),
    "osu": Benchmark(osu, "osu_allreduce", _OSU, _osu, _doubling),
}
"""By the name that `--benchmark` and `[measure] benchmark` have for them."""


def located(name: str, given: str | None, collectives: Sequence[str]) -> Path:
    """The benchmark's program, of OSU the directory of its programs. Raises UserError where it cannot be run, or where
    OSU's directory lacks the program of a collective."""
    if name == "osu":
        return _osu_directory(given, [_OSU[collective] for collective in collectives])
    benchmark = BENCHMARKS[name]
    word = given or benchmark.usual
    if (found := _runnable(word)) is None:
        raise UserError(
            _("{word}: is not a program that can be run; name {label} with --benchmark-program PATH").format(
                word=word, label=benchmark.label
            )
        )
    return found


def _osu_directory(given: str | None, programs: Sequence[str]) -> Path:
    """One of its programs may be given, too; nothing: the directory of a program on PATH."""
    lacks = {
        place: [program for program in programs if _runnable(str(place / program)) is None]
        for place in _osu_places(given, programs)
    }
    place = min(lacks, key=lambda place: len(lacks[place]), default=None)
    if place is None or len(lacks[place]) == len(programs):
        raise UserError(
            _(
                "{place}: none of {programs} is there; name the directory of OSU's programs with --benchmark-program"
            ).format(place=given or "PATH", programs=", ".join(programs))
        )
    if lacks[place]:
        raise UserError(
            _("{directory}: has no {programs}; build what is missing, or take its collective out of the study").format(
                directory=place, programs=", ".join(lacks[place])
            )
        )
    return place


def _osu_places(given: str | None, programs: Sequence[str]) -> list[Path]:
    if given is None:
        return [found.parent for program in programs if (found := _runnable(program)) is not None]
    named = Path(os.path.expanduser(given)).absolute()  # noqa: PTH111 (Path.expanduser raises where no home is)
    return [named.resolve() / place for place in _OSU_PLACES] if named.is_dir() else [named.parent]


def _runnable(word: str) -> Path | None:
    found = shutil.which(os.path.expanduser(word))  # noqa: PTH111 (a Path would lose the `./` that names no PATH)
    return Path(found).absolute() if found is not None else None


def unknown(name: str, collectives: Sequence[str]) -> list[str]:
    """Those of the collectives that a benchmark does not measure."""
    return [collective for collective in collectives if collective not in BENCHMARKS[name].collectives]
