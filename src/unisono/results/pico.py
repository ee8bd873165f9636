"""PICO: one directory a job (or its archive), in it one CSV file for each test, element count and algorithm."""

from __future__ import annotations

import csv
import io
import re
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np

from unisono.core.errors import UserError
from unisono.core.language import N_, _
from unisono.core.reading import read_bytes
from unisono.core.vocabulary import COLLECTIVES, DEFAULT, Setting
from unisono.results.found import Found, Row
from unisono.results.lines import complete_lines, count, positive

NAME = "pico"
LABEL = "PICO"

_ELEMENT = 4
"""Bytes: int32, float."""
_WARM_UP = 0.2
"""PICO's own share of repetitions that are warm-up."""
_FILES_MOST = 100_000
_FILE_MOST = 64 << 20
_ARCHIVE_MOST = 1 << 30
_FILE = re.compile(
    r"(?:.*/)?([0-9]{1,9})/([0-9]{1,18})_(\w+?)(?:_(?:int|int8|int16|int32|int64|float|double|char))?\.csv"
)
_BLOCKS = ("allgather", "alltoall", "gather", "scatter")
"""Collectives in which the element count is of the longer buffer, which holds a block of each rank."""
_FAMILIES = {"OMPI": "openmpi", "MPICH": "mpich"}


@dataclass(frozen=True, slots=True)
class Test:
    """A line of SYSTEM_metadata.csv."""

    collective: str
    nodes: int
    ppn: int
    library: str
    version: str
    gpu: bool


@dataclass(frozen=True, slots=True)
class Timing:
    """One CSV file: an algorithm at one message size within one job."""

    test: str
    """STAMP/TEST_ID."""
    about: Test
    algorithm: str
    """As PICO names it: X_ompi and X_mpich are the library's, others PICO's own."""
    size: int
    """Bytes, as IMB counts them."""
    seconds: np.ndarray[tuple[int], np.dtype[np.float64]]
    """The slowest rank, each repetition after the warm-up."""


def is_job(path: Path) -> bool:
    """Whether a path looks like a job of PICO: a directory of tests, or an archive of one."""
    if path.is_dir():
        return any(_FILE.fullmatch(f"{p.parent.name}/{p.name}") for p in path.glob("*/*.csv"))
    return path.name.endswith((".tar.gz", ".tgz"))


def timings(path: Path, found: Found, *, gpu: bool = False) -> Iterator[Timing]:
    """What a job measured with buffers of CPUs, or of GPUs. Raises UserError where its metadata are missing or it
    cannot be read."""
    stamp = path.name.removesuffix(".tar.gz").removesuffix(".tgz")
    about = _metadata(path, stamp)
    for name, data in _files(path):
        match = _FILE.fullmatch(name)
        if match is None:
            continue
        test = about.get(match[1])
        if test is None:
            found.note(
                N_("Test {test} of {stamp} is not in PICO's metadata; it was left out.").format(
                    test=match[1], stamp=stamp
                )
            )
            continue
        elements = int(match[2])
        ranks = test.nodes * test.ppn
        blocks = test.collective in _BLOCKS
        if test.gpu != gpu or ((blocks or test.collective == "reduce_scatter") and elements % ranks):
            found.note(
                N_(
                    "Measurements with buffers of GPUs, and vectors that do not divide into a block for each "
                    "rank, were left out."
                )
            )
            continue
        seconds = _repetitions(data, found)
        if len(seconds):
            size = elements * _ELEMENT // (ranks if blocks else 1)
            yield Timing(f"{stamp}/{match[1]}", test, match[3], size, seconds)


def read(path: Path) -> Found:
    """The library's own algorithms in a job; those of PICO itself are no settings of an MPI."""
    found = Found(NAME)
    other: set[str] = set()
    for timing in timings(path, found):
        setting = setting_of(timing.algorithm)
        if setting is None or timing.about.collective not in COLLECTIVES:
            other.add(timing.algorithm if setting is None else timing.about.collective)
            continue
        about = timing.about
        found.mpi = (_FAMILIES.get(about.library, about.library.lower()), about.version)
        found.rows.append(
            Row(
                about.collective,
                timing.size,
                timing.seconds,
                len(timing.seconds),
                about.nodes * about.ppn,
                about.nodes,
                setting,
                timing.test,
            )
        )
    if other:
        found.note(
            N_(
                "Left out, because they are not settings of the MPI, or not collectives that Unisono tunes: {names}."
            ).format(names=", ".join(sorted(other)))
        )
    found.note(N_("Everything that PICO ran in one job counts as one launch; its warm-up was left out."))
    return found


def setting_of(algorithm: str) -> Setting | None:
    if algorithm.startswith("default_"):
        return DEFAULT
    name, _cut, library = algorithm.rpartition("_")
    return Setting({"coll": "tuned", "algorithm": name}) if library == "ompi" else None


def _metadata(path: Path, stamp: str) -> Mapping[str, Test]:
    """Test -> what was measured, from the file beside the system's directory."""
    system = path.resolve().parent
    file = system.with_name(f"{system.name}_metadata.csv")
    if not file.is_file():
        raise UserError(
            _("{path}: PICO's {name} must be beside the directory that this is in; it says what was measured").format(
                path=path, name=file.name
            )
        )
    text = read_bytes(file, _FILE_MOST).decode("utf-8", "replace")
    tests = {}
    for row in csv.DictReader(io.StringIO(text)):
        nodes, ppn = count(row.get("nnodes") or ""), count(row.get("tasks_per_node") or "")
        if row.get("timestamp") == stamp and nodes and ppn:
            tests[row.get("test_id") or ""] = Test(
                (row.get("collective_type") or "").lower(),
                nodes,
                ppn,
                row.get("mpi_lib") or "",
                row.get("mpi_lib_version") or "",
                (row.get("gpu_awareness") or "no") != "no",
            )
    if not tests:
        raise UserError(_("{path}: {name} says nothing about {stamp}").format(path=path, name=file.name, stamp=stamp))
    return tests


def _files(path: Path) -> Iterator[tuple[str, bytes]]:
    if path.is_dir():
        for file in sorted(path.glob("*/*.csv"))[:_FILES_MOST]:
            yield f"{file.parent.name}/{file.name}", read_bytes(file, _FILE_MOST)
        return
    data = read_bytes(path, _ARCHIVE_MOST)
    left = _ARCHIVE_MOST
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as archive:
            for number, member in enumerate(archive):
                if number > _FILES_MOST or (left := left - member.size) < 0:
                    raise UserError(_("{path}: holds more than any job of PICO").format(path=path))
                if member.isfile() and member.size <= _FILE_MOST and (file_ := archive.extractfile(member)):
                    yield str(PurePosixPath(member.name)), file_.read()
    except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
        raise UserError(_("{path}: is no archive of a job of PICO ({error})").format(path=path, error=error)) from error


def _repetitions(data: bytes, found: Found) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Seconds of the slowest rank; without PICO's warm-up."""
    lines = complete_lines(data.decode("utf-8", "replace"), found)
    if not lines or not lines[0].startswith("highest"):
        return np.array([])
    values = [positive(line.split(",")[0], 1e-9) for line in lines[1:]]
    kept = [value for value in values[int(len(values) * _WARM_UP) :] if value is not None]
    return np.array(kept)
