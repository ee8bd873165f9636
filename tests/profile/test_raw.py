from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.profile.raw_samples import BASE, LIBRARY, cell, part, raw_file, section
from unisono.core.errors import UserError
from unisono.profile.check import problem
from unisono.profile.raw import Place, read_raw
from unisono.profile.rawfile import MAGIC
from unisono.profile.recorded import NO_FUNCTION, UNKNOWN, Frame, Profile


def _named(places: Sequence[Place]) -> list[tuple[Frame, ...]]:
    """A function for every 256 bytes; at 0x1300 one is inlined into another."""
    out = []
    for path, offset in places:
        module = path.rsplit("/", 1)[-1]
        frame = Frame(f"f{offset >> 8:x}" if path else "", module, offset)
        inner = (Frame("inner", module, offset, inlined=True),) if offset == 0x1300 else ()
        out.append((*inner, frame))
    return out


def _read(folder: Path, *files: bytes) -> Profile:
    paths = []
    for number, data in enumerate(files):
        path = folder / f"run.{number}.raw"
        path.write_bytes(data)
        paths.append(path)
    return read_raw(paths, _named)


def _chains(profile: Profile) -> list[list[str]]:
    return [[frame.function for frame in profile.chain(number)] for number in range(len(profile.paths))]


def test_one_rank(tmp_path: Path) -> None:
    cells = [cell(1), cell(2, 2, -1, -1, 3, sent=-1, received=-1), cell(1, size_max=4096, size_sum=30_000)]
    found = _read(tmp_path, raw_file(part(0, 1, cells=cells, comms=[(1, 1, 1)], split_waiting=True, dropped=4)))
    assert problem(found) == ""
    assert found.functions == ("", "MPI_Alltoall", "MPI_Wait")
    own, first, wait, binned = found.cells
    assert own["function"] == NO_FUNCTION and own["path"] == 0 and own["calls"] == 0
    assert own["time"] == pytest.approx(1 - 23e-6)
    assert (first["calls"], first["size"], first["sent"]) == (10, 1024, 20_480)
    assert first["time"] == pytest.approx(10e-6) and first["time_min"] == pytest.approx(0.9e-6)
    assert np.isnan(first["waiting"])
    assert (wait["comm"], wait["size"], wait["sent"], wait["calls"]) == (UNKNOWN, UNKNOWN, UNKNOWN, 3)
    assert (binned["size_min"], binned["size"], binned["size_max"]) == (1024, 3000, 4096)
    assert _chains(found) == [[], ["f12"], ["f11", "f12"], ["f13"], ["inner", "f13"], ["f11", "inner", "f13"]]
    assert [_chains(found)[row["path"]] for row in (first, wait)] == [["f11", "f12"], ["f11", "inner", "f13"]]
    assert found.origin.hosts == ("n0",) and found.origin.split_waiting and found.origin.depth == 8
    assert found.origin.created == "2027-01-15T08:00:00+00:00"
    assert found.origin.dropped == 4 and any("4 calls did not fit" in note for note in found.notes)
    assert float(found.cells["time"].sum()) == pytest.approx(float(found.wall.sum()))


def test_the_same_code_at_other_addresses_is_the_same_path(tmp_path: Path) -> None:
    """Ranks load the program anywhere and number paths, functions, phases and communicators as they come."""
    one = part(0, 2, cells=[cell(1)], comms=[(2, 1, 1), (1, 1, 3)])
    two = part(
        1,
        2,
        base=BASE + (7 << 30),
        paths=[(), (0x1100, 0x1300), (0x1100, 0x1200)],
        functions=["", "MPI_Barrier", "MPI_Alltoall"],
        phases=["", "solve"],
        comms=[(2, 1, 1)],
        cells=[cell(2, 2), cell(1, 1, phase=1)],
        pairs=[(0, 3, 300)],
    )
    together = _read(tmp_path, raw_file(one, two))
    apart = _read(tmp_path, raw_file(one), raw_file(two))
    for found in (together, apart):
        assert problem(found) == "" and not found.notes
        rows = found.mpi_rows
        assert rows["path"][0] == rows["path"][1] != rows["path"][2]
        assert [found.functions[number] for number in rows["function"]] == ["MPI_Alltoall"] * 2 + ["MPI_Barrier"]
        assert [found.phases[number] for number in rows["phase"]] == ["", "", "solve"]
        assert rows["rank"].tolist() == [0, 1, 1]
        assert [(c.size, c.nodes, c.created) for c in found.comms] == [(2, 1, 1), (1, 1, 3)]
        assert found.pairs.tolist() == [(1, 0, 3, 300)]
    assert together.cells.tobytes() == apart.cells.tobytes()


def test_addresses_belong_to_the_object_that_holds_them(tmp_path: Path) -> None:
    seen: list[Place] = []

    def symboliser(places: Sequence[Place]) -> list[tuple[Frame, ...]]:
        seen.extend(places)
        return _named(places)

    modules = [
        ("/opt/fixed", 0, 0x500000),  # not position independent: addresses are those of the file
        ("/lib/libfft.so", LIBRARY, LIBRARY + 0x3000),
        ("/lib/libnext.so", LIBRARY + 0x3000, LIBRARY + 0x8000),
    ]
    addresses = [0x401000, LIBRARY + 0x10, LIBRARY + 0x3000, LIBRARY + 0x3001, LIBRARY + 0x9000]
    path = tmp_path / "run.raw"
    path.write_bytes(raw_file(part(0, 1, base=0, paths=[(), addresses], modules=modules, cells=[cell(1)])))
    read_raw([path], symboliser)
    # A return address that is the first byte behind an object is of a call at its end.
    assert dict.fromkeys(seen) == dict.fromkeys(
        [
            ("/opt/fixed", 0x401000),
            ("/lib/libfft.so", 0x10),
            ("/lib/libfft.so", 0x3000),
            ("/lib/libnext.so", 1),
            ("", LIBRARY + 0x9000),
        ]
    )


def test_ranks_that_are_missing_and_how_it_ended(tmp_path: Path) -> None:
    parts = [part(rank, 8, cells=[cell(1)], ended="signal SIGTERM") for rank in (0, 5)]
    crashed = part(3, 8, cells=[cell(1)], ended="signal SIGSEGV")
    found = _read(tmp_path, *(raw_file(one) for one in (*parts, crashed)))
    assert found.ranks == 8 and found.wall[[0, 3, 5]].tolist() == [1.0] * 3 and found.wall.sum() == 3
    assert found.origin.ended == "signal SIGSEGV"  # SIGTERM is what mpirun sent to the others
    assert any("5 of 8 ranks wrote nothing (1, 2, 4, 6, 7)" in note for note in found.notes)


def test_a_rank_in_two_files_counts_once(tmp_path: Path) -> None:
    whole = raw_file(part(0, 2, cells=[cell(1)]), part(1, 2, cells=[cell(1)]))
    again = raw_file(part(1, 2, cells=[cell(1, calls=99)]))
    assert _read(tmp_path, whole, again).mpi_rows["calls"].tolist() == [10, 10]


def test_time_in_mpi_of_several_threads_may_exceed_the_wall(tmp_path: Path) -> None:
    found = _read(tmp_path, raw_file(part(0, 1, cells=[cell(1, time=10**10)])))
    assert found.cells["time"].tolist() == [0.0, 10.0]


def test_sections_of_a_later_version_are_skipped(tmp_path: Path) -> None:
    data = MAGIC + section("NEWS", b"12345") + part(0, 1, cells=[cell(1)])
    assert len(_read(tmp_path, data).mpi_rows) == 1


POSTED = ("", "MPI_Iallreduce", "MPI_Wait", "MPI_Ineighbor_alltoallw", "MPI_Send")


def test_what_nonblocking_collectives_are_waited_for(tmp_path: Path) -> None:
    cells = [cell(1), cell(2, 2, -1, -1, 20), cell(1, 3), cell(1, 4)]
    done = [(0, 9, 4_000), (1, 10, 5_000), (2, 1, 1_000)]
    found = _read(tmp_path, raw_file(part(0, 2, cells=cells, functions=POSTED, completions=done, pending_lost=3)))
    assert problem(found) == ""
    begun, wait, other, send = found.mpi_rows
    assert begun["completion"] == pytest.approx(4e-6) and begun["completed"] == 9
    assert wait["completion"] == pytest.approx(5e-6) and wait["completed"] == UNKNOWN
    assert other["completion"] == pytest.approx(1e-6) and other["completed"] == 1
    assert np.isnan(send["completion"]) and send["completed"] == UNKNOWN
    assert any("3 nonblocking collectives were begun while too many others" in note for note in found.notes)
    # Nothing was waited for, or nobody looked.
    for completions, known in (([], True), (None, False)):
        rows = _read(tmp_path, raw_file(part(0, 2, cells=cells, functions=POSTED, completions=completions))).mpi_rows
        assert [value == 0 for value in rows["completion"]] == [known, known, known, False]
        assert rows["completed"].tolist() == [0 if known else UNKNOWN, UNKNOWN, 0 if known else UNKNOWN, UNKNOWN]


def test_no_call_is_waited_in_longer_than_it_took(tmp_path: Path) -> None:
    cells = [cell(1), cell(2, 2, -1, -1, 20)]
    done = [(0, 2**60, 1), (1, 1, 2**60)]
    found = _read(tmp_path, raw_file(part(0, 2, cells=cells, functions=POSTED, completions=done)))
    begun, wait = found.mpi_rows
    assert begun["completed"] == begun["calls"] and wait["completion"] == wait["time"]


_GOOD = raw_file(
    part(
        0, 2, cells=[cell(1), cell(2, 2)], pairs=[(1, 2, 3)], functions=POSTED, completions=[(0, 3, 500), (1, 3, 500)]
    ),
    part(1, 2, cells=[cell(1)]),
)


@pytest.mark.parametrize(
    ("data", "because"),
    [
        (b"", "is empty"),
        (b"PK\3\4 something else", "was not written by libunisono"),
        (MAGIC, "holds no rank's part"),
        (_GOOD[:-16], "ends in the middle"),
        (_GOOD[: len(_GOOD) // 2], "ends in the middle|longer than the file"),
        (raw_file(part(2, 2)), "rank 2 of 2 cannot be"),
        (raw_file(part(0, 2**31)), "cannot be"),
        (raw_file(part(0, 1, cells=[cell(3)])), "a path that is not there"),
        (raw_file(part(0, 1, cells=[cell(0, 0)])), "a function that is not there"),
        (raw_file(part(0, 1, cells=[cell(0, 9)])), "a function that is not there"),
        (raw_file(part(0, 1, cells=[cell(0, comm=1)])), "a comm that is not there"),
        (raw_file(part(0, 1, cells=[cell(0, phase=1)])), "a phase that is not there"),
        (raw_file(part(0, 1, pairs=[(1, 1, 1)])), "a rank that is not there"),
        (raw_file(part(0, 1, cells=[cell(1)], completions=[(1, 1, 1)])), "a completion names a row that is not there"),
        (raw_file(part(0, 1).replace(b"END ", b"DONE", 1)), "ends in the middle|longer than"),
        (raw_file(part(0, 1, paths=[(1,)])), "does not begin with the empty path"),
        (raw_file(part(0, 1, paths=[(), tuple(range(17))])), "has no end"),
        (raw_file(part(0, 1, functions=["MPI_Init"])), "begins with an empty one"),
        (raw_file(part(0, 1, cells=[cell(1, size=0, calls=2**63, time=1)])), "negative"),
        (MAGIC + section("RANK", b"{}" * 9) + section("END ", b""), "has no section 'MODS'"),
        (MAGIC + section("RANK", b"") * 2, "appears twice"),
        (MAGIC + struct.pack("<4sIQ", b"RANK", 0, 2**63), "longer than the file"),
        (_GOOD.replace(b'"size": 2', b'"size":[]'), "not a list of {size, nodes, created}"),
        (_GOOD.replace(b'{"overhead_ns"', b'["overhead_ns"'), "is not JSON"),
        (raw_file(part(0, 1).replace(b'["", "MPI_Alltoall"', b"[" * 2000, 1)), "longer than|is not JSON|in the middle"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, data: bytes, because: str) -> None:
    with pytest.raises(UserError, match=because) as caught:
        _read(tmp_path, data)
    assert "run.0.raw" in str(caught.value) and "\n" not in str(caught.value)


def test_deep_json(tmp_path: Path) -> None:
    deep = b"[" * 100_000
    data = (
        MAGIC
        + section("RANK", deep)
        + b"".join(section(tag, b"") for tag in ("MODS", "FUNC", "PATH", "COMM", "PHAS", "CELL", "PAIR", "END "))
    )
    with pytest.raises(UserError, match="is not JSON"):
        _read(tmp_path, data)


def test_files_of_two_runs(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="run with 3 ranks"):
        _read(tmp_path, raw_file(part(0, 2)), raw_file(part(1, 3)))
    with pytest.raises(UserError, match="cannot be read"):
        read_raw([tmp_path / "none.raw"])
    with pytest.raises(UserError, match="no file"):
        read_raw([])


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    edits=st.lists(st.tuples(st.integers(8, len(_GOOD) - 1), st.binary(min_size=1, max_size=8)), max_size=4),
    end=st.integers(0, len(_GOOD)),
)
def test_damaged_files_are_read_or_refused(tmp_path: Path, edits: list[tuple[int, bytes]], end: int) -> None:
    """Whatever was overwritten or cut off: a sound profile or one clear error."""
    data = bytearray(_GOOD)
    for at, new in edits:
        data[at : at + len(new)] = new
    try:
        found = _read(tmp_path, bytes(data[: end if end % 3 == 0 else None]))
    except UserError as error:
        assert "\n" not in str(error)
    else:
        assert problem(found) == ""


def test_many_ranks_and_paths(tmp_path: Path) -> None:
    """Every rank at its own address: 64 ranks of 500 paths have 500 paths together."""
    paths = [(), *((0x100 * n + 1, 0x80000 + n % 50, 0x90000) for n in range(1, 500))]
    parts = [
        part(rank, 64, base=BASE + (rank << 24), paths=paths, cells=[cell(path, size=path) for path in range(500)])
        for rank in range(64)
    ]
    found = _read(tmp_path, raw_file(*parts))
    assert len(found.paths) == 1 + 1 + 50 + 499
    rows = found.mpi_rows
    assert len(rows) == 64 * 500 and len(np.unique(rows["path"])) == 500
    for path in np.unique(rows["path"])[[1, -1]]:
        assert len(np.unique(rows["size"][rows["path"] == path])) == 1
