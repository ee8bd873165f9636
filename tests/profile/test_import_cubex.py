"""Reading Cube files: our own, made by hand, real ones, and broken ones."""

from __future__ import annotations

import gzip
import os
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pycubexr import CubexParser

from tests.profile import cube_parts as cube
from tests.profile.ft import CALLS, SIZE, ft
from unisono.core.errors import UserError
from unisono.profile.check import problem
from unisono.profile.exporters import export_profile
from unisono.profile.file import load, save
from unisono.profile.flat import flat_table
from unisono.profile.hot import hot_spots
from unisono.profile.importers import import_profile
from unisono.profile.recorded import UNKNOWN, Comm, Profile
from unisono.profile.sizes import MEAN, NONE
from unisono.profile.tree import labels

SAMPLE = Path(__file__).parent / "samples" / "ft_p4.cubex"
REAL = Path(os.environ.get("UNISONO_SAMPLE_CUBEX", Path(__file__).parents[3] / "shared" / "data" / "cubex"))
"""Cube files of the public project extra-p/pycubexr; another folder: UNISONO_SAMPLE_CUBEX."""


def real(name: str) -> Path:
    if not (REAL / name).exists():
        pytest.skip(f"no {name} here; set UNISONO_SAMPLE_CUBEX to a folder with the samples of pycubexr")
    return REAL / name


def write(path: Path, parts: dict[str, bytes]) -> Path:
    path.write_bytes(cube.tar(parts))
    return path


def small(**changes: bytes) -> dict[str, bytes]:
    """main (10 s on rank 0, 12 s on rank 1) calls MPI_Alltoall; members can be replaced ("a_b" is "a.b")."""
    parts = {
        "anchor.xml": cube.anchor(
            '<cnode id="0" calleeId="0"><cnode id="1" calleeId="1"></cnode></cnode>',
            [("main", "compiler"), ("MPI_Alltoall", "mpi")],
            metrics='<metric id="2" type="EXCLUSIVE"><uniq_name>bytes_sent</uniq_name><dtype>UINT64</dtype></metric>',
        ),
        "0.index": cube.index([0, 1]),
        "0.data": cube.data([[1, 1], [5, 5]], "<u8"),
        "1.index": cube.index([0, 1]),
        "1.data": cube.data([[10, 12], [4, 3]]),
        "2.index": cube.index([1]),
        "2.data": cube.data([[5 * 2 * 64, 5 * 2 * 64]], "<u8"),
    }
    parts.update({name.replace("_", "."): value for name, value in changes.items()})
    return {name: value for name, value in parts.items() if value}


def times(profile: Profile) -> dict[tuple[str, int], float]:
    return {
        ("/".join(reversed((profile.functions[c["function"]], *labels(profile, c["path"])))), int(c["rank"])): float(
            c["time"]
        )
        for c in profile.cells
    }


def test_the_message_size_of_document_003(tmp_path: Path) -> None:
    """3.36 GB in 25 calls on 256 ranks: what the document calls 525 KB is 512 KiB."""
    export_profile(ft(), tmp_path / "ft.cubex", "cubex")
    spot = hot_spots(import_profile(tmp_path / "ft.cubex"))[0]
    assert round(spot.sent / 256 / 1e9, 2) == 3.36
    assert (spot.calls.least, spot.calls.most, spot.ranks) == (CALLS, CALLS, 256)
    assert round(3.36e9 / 25 / 256 / 1e3) == 525
    (size,) = spot.sizes
    assert (size.kind, size.size, size.least) == (MEAN, SIZE, UNKNOWN)
    assert spot.frames[0].function == "transpose_x_yz"
    assert spot.comm == Comm(256, 8)


def test_a_sample_kept_in_the_repository() -> None:
    profile = import_profile(SAMPLE)
    assert profile.ranks == 4
    assert profile.origin.source == "cubex"
    assert profile.origin.hosts == ("node0", "node0", "node1", "node1")
    assert [(s.function, s.frames[0].function) for s in hot_spots(profile)[:2]] == [
        ("MPI_Alltoall", "transpose_x_yz"),
        ("MPI_Reduce", "checksum"),
    ]
    assert any("MPI_COMM_WORLD (4 ranks) was assumed" in note for note in profile.notes)
    assert any("assumed uniform" in note for note in profile.notes)


def test_inclusive_times_become_exclusive_and_mpi_is_no_part_of_the_path(tmp_path: Path) -> None:
    profile = import_profile(write(tmp_path / "p.cubex", small()))
    assert times(profile) == {
        ("main/", 0): 6.0,
        ("main/", 1): 9.0,
        ("main/MPI_Alltoall", 0): 4.0,
        ("main/MPI_Alltoall", 1): 3.0,
    }
    assert profile.wall.tolist() == [10, 12]
    (spot,) = hot_spots(profile)
    assert (spot.sizes[0].kind, spot.sizes[0].size) == (MEAN, 64)
    assert (spot.frames[0].file, spot.frames[0].line) == ("f.c", 7)


def test_several_roots_and_derived_metrics_as_scalasca_writes_them(tmp_path: Path) -> None:
    """pycubexr asserts on both."""
    derived = (
        '<metric id="7" type="POSTDERIVED"><uniq_name>mpi_time</uniq_name><dtype>DOUBLE</dtype>'
        '<metric id="2" type="EXCLUSIVE"><uniq_name>bytes_sent</uniq_name><dtype>UINT64</dtype></metric></metric>'
    )
    parts = small(
        anchor_xml=cube.anchor(
            '<cnode id="0" calleeId="0"><cnode id="1" calleeId="1"></cnode></cnode><cnode id="2" calleeId="2"></cnode>',
            [("main", "compiler"), ("MPI_Alltoall", "mpi"), ("THREADS", "measurement")],
            metrics=derived,
        ),
    )
    parts["1.index"], parts["1.data"] = cube.index([0, 1, 2]), cube.data([[10, 12], [4, 3], [1, 0]])
    path = write(tmp_path / "summary.cubex", parts)
    with pytest.raises(AssertionError), CubexParser(str(path)):
        pass
    profile = import_profile(path)
    assert times(profile)["THREADS/", 0] == 1.0
    assert {row.group for row in flat_table(profile).groups} == {"ALL", "COM", "MPI", "SCOREP"}
    assert hot_spots(profile)[0].sizes[0].size == 64


def test_both_orders_of_several_roots_are_understood(tmp_path: Path) -> None:
    """a(b(c)), d(e): inclusive values come as a b c d e or as a d b c e."""
    parts = small(
        anchor_xml=cube.anchor(
            '<cnode id="0" calleeId="0"><cnode id="1" calleeId="1"><cnode id="2" calleeId="2"/></cnode></cnode>'
            '<cnode id="3" calleeId="3"><cnode id="4" calleeId="4"/></cnode>',
            [(name, "compiler") for name in "abcde"],
        ),
        **{"2_index": b"", "2_data": b""},
    )
    parts["0.index"], parts["0.data"] = cube.index(range(5)), cube.data([[1, 1]] * 5, "<u8")
    parts["1.index"] = cube.index(range(5))
    found = []
    for times in ([100, 60, 30, 50, 20], [100, 50, 60, 30, 20]):
        parts["1.data"] = cube.data([[time, time] for time in times])
        profile = import_profile(write(tmp_path / "p.cubex", parts))
        found.append({row.region: row.time / 2 for row in flat_table(profile).regions})
        assert profile.wall.tolist() == [150, 150]
    assert found == [{"a": 40, "b": 30, "c": 30, "d": 30, "e": 20}] * 2


def test_the_order_of_inclusive_metrics_is_not_that_of_exclusive_ones(tmp_path: Path) -> None:
    """a(b(c), d): exclusive metrics count a b c d, inclusive ones a b d c."""
    parts = small(
        anchor_xml=cube.anchor(
            '<cnode id="0" calleeId="0"><cnode id="1" calleeId="1"><cnode id="2" calleeId="2"/></cnode>'
            '<cnode id="3" calleeId="3"/></cnode>',
            [("a", "compiler"), ("b", "compiler"), ("c", "compiler"), ("d", "compiler")],
        ),
        **{"2_index": b"", "2_data": b""},
    )
    parts["0.index"], parts["0.data"] = cube.index([0, 1, 2, 3]), cube.data([[1, 1], [2, 2], [3, 3], [4, 4]], "<u8")
    parts["1.index"], parts["1.data"] = cube.index([0, 1, 2, 3]), cube.data([[100, 100], [30, 30], [20, 20], [10, 10]])
    profile = import_profile(write(tmp_path / "p.cubex", parts))
    found = {row.region: (row.visits, row.time) for row in flat_table(profile).regions}
    assert found == {"a": (2, 100.0), "b": (4, 40.0), "c": (6, 20.0), "d": (8, 40.0)}
    assert "message sizes are not known" in " ".join(profile.notes)


def test_big_endian_compressed_dense_and_gzipped(tmp_path: Path) -> None:
    usual = times(import_profile(write(tmp_path / "usual.cubex", small())))
    big = small(**{"1_index": cube.index([0, 1], ">"), "1_data": cube.data([[10, 12], [4, 3]], ">f8")})
    assert times(import_profile(write(tmp_path / "big.cubex", big))) == usual
    for order in "<>":
        rows = [[10.0, 12.0], [4.0, 3.0]]
        zipped = small(**{"1_index": cube.index([0, 1], order), "1_data": cube.packed(rows, f"{order}f8", order)})
        assert times(import_profile(write(tmp_path / "zipped.cubex", zipped))) == usual
    dense = small(**{"1_index": b"CUBEX.INDEX" + struct.pack("<ihB", 1, 0, 0)})
    assert times(import_profile(write(tmp_path / "dense.cubex", dense))) == usual
    parts = small()
    parts["anchor.xml"] = gzip.compress(parts["anchor.xml"])
    assert times(import_profile(write(tmp_path / "gz.cubex", parts))) == usual


def test_wrong_checksums_of_the_tar_are_no_error(tmp_path: Path) -> None:
    """CubeLib 4.8 writes them."""
    raw = bytearray(cube.tar(small()))
    raw[148:156] = b"0000001\0"
    (tmp_path / "p.cubex").write_bytes(raw)
    assert import_profile(tmp_path / "p.cubex").ranks == 2


def test_tuples_of_statistics_as_times(tmp_path: Path) -> None:
    rows = [(1, 0.0, 0.0, 10.0, 0.0), (1, 0.0, 0.0, 12.0, 0.0), (5, 0.0, 0.0, 4.0, 0.0), (5, 0.0, 0.0, 3.0, 0.0)]
    raw = b"CUBEX.DATA" + b"".join(struct.pack("<Idddd", *entry) for entry in rows)
    parts = small(**{"1_data": raw})
    parts["anchor.xml"] = parts["anchor.xml"].replace(b"<dtype>DOUBLE", b"<dtype>TAU_ATOMIC")
    assert import_profile(write(tmp_path / "p.cubex", parts)).wall.tolist() == [10, 12]


def test_threads_of_a_rank_are_added_up_and_gpus_left_out(tmp_path: Path) -> None:
    """Ranks 1 and 0 in this order in the tree, by turns on two nodes; locations are columns by their Id."""
    system = (
        '<systemtreenode Id="0"><name>machine</name><class>machine</class>'
        f'<systemtreenode Id="1" class="node"><name>node b</name>{cube.group(1, [2, 3])}</systemtreenode>'
        f'<systemtreenode Id="2" class="node"><name>node a</name>{cube.group(0, [0, 1])}{cube.group(0, [4], "gpu")}'
        "</systemtreenode></systemtreenode>"
    )
    parts = small(
        anchor_xml=cube.anchor('<cnode id="0" calleeId="0"/>', [("main", "compiler")], system=system),
        **{
            "0_index": cube.index([0]),
            "0_data": cube.data([[1, 1, 1, 1, 9]], "<u8"),
            "1_index": cube.index([0]),
            "1_data": cube.data([[10, 4, 20, 5, 99]]),
            "2_index": b"",
        },
    )
    profile = import_profile(write(tmp_path / "p.cubex", parts))
    assert times(profile) == {("main/", 0): 14.0, ("main/", 1): 25.0}
    assert profile.wall.tolist() == [10, 20]
    assert profile.origin.hosts == ("a", "b")
    assert profile.comms == (Comm(2, 2),)
    said = " ".join(profile.notes)
    assert "4 threads on 2 ranks" in said
    assert "1 locations that are no CPU threads were left out" in said


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p: p.pop("anchor.xml"), "has no anchor.xml"),
        (lambda p: p.pop("1.data"), "no values of the metric time"),
        (lambda p: p.pop("0.index"), "no values of the metric visits"),
        (lambda p: p.update({"1.data": p["1.data"][:-1]}), "metric time has 31 bytes of values instead of 32"),
        (lambda p: p.update({"1.index": p["1.index"][:-1]}), "index of metric time is damaged"),
        (lambda p: p.update({"1.index": cube.index([0, 7])}), "index of metric time names call paths"),
        (lambda p: p.update({"1.index": cube.index([1, 1])}), "index of metric time names call paths"),
        (lambda p: p.update({"2.data": b"nonsense" * 4}), "values of metric bytes_sent are damaged"),
        (lambda p: p.update({"1.data": cube.data([[10, float("nan")], [1, 1]])}), "metric time has values that are no"),
        (lambda p: p.update({"0.data": cube.data([[2**63, 1], [1, 1]], "<u8")}), "visits has impossible values"),
        (lambda p: p.update({"anchor.xml": p["anchor.xml"][:-5]}), "anchor.xml is damaged"),
        (lambda p: p.update({"anchor.xml": b"<?xml version='1.0'?><html></html>"}), "is no Cube 4 file"),
        (lambda p: p.update({"anchor.xml": p["anchor.xml"].replace(b'calleeId="1"', b'calleeId="9"')}), "is damaged"),
        (lambda p: p.update({"anchor.xml": p["anchor.xml"].replace(b"UINT64", b"HISTOGRAM")}), "type HISTOGRAM"),
        (lambda p: p.update({"anchor.xml": b'<!DOCTYPE a [<!ENTITY b "c">]>' + p["anchor.xml"]}), "defines entities"),
        (lambda p: p.update({"anchor.xml": p["anchor.xml"].replace(b">thread<", b">metric<")}), "no MPI ranks"),
        (lambda p: p.update({"1.data": cube.packed([[0.0] * 2000], "<f8")}), "would unpack to more values"),
    ],
)
def test_damage_is_named(tmp_path: Path, change: Callable[[dict[str, bytes]], None], message: str) -> None:
    parts = small()
    change(parts)
    path = write(tmp_path / "p.cubex", parts)
    with pytest.raises(UserError) as caught:
        import_profile(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_call_tree_without_end_is_refused(tmp_path: Path) -> None:
    depth = 5000
    cnodes = "".join(f'<cnode id="{n}" calleeId="0">' for n in range(depth)) + "</cnode>" * depth
    parts = small(anchor_xml=cube.anchor(cnodes, [("f", "compiler")]), **{"2_index": b"", "2_data": b""})
    parts["0.index"], parts["0.data"] = cube.index([0]), cube.data([[1, 1]], "<u8")
    parts["1.index"], parts["1.data"] = cube.index([0]), cube.data([[1, 1]])
    with pytest.raises(UserError, match="more than 1,000 calls deep"):
        import_profile(write(tmp_path / "p.cubex", parts))


def test_a_truncated_file_is_said_to_be_truncated(tmp_path: Path) -> None:
    path = tmp_path / "p.cubex"
    path.write_bytes(cube.tar(small())[:700])
    with pytest.raises(UserError, match="truncated"):
        import_profile(path)


@given(st.data())
@settings(max_examples=50, deadline=None)
def test_flipped_bytes_never_end_in_a_traceback(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    raw = bytearray(SAMPLE.read_bytes())
    for at, value in data.draw(
        st.lists(st.tuples(st.integers(0, len(raw) - 1), st.integers(0, 255)), min_size=1, max_size=10)
    ):
        raw[at] = value
    raw = raw[: data.draw(st.sampled_from([len(raw), len(raw) // 2, len(raw) - 1500]))]
    path = tmp_path_factory.getbasetemp() / "flipped.cubex"
    path.write_bytes(raw)
    try:
        profile = import_profile(path)
    except UserError as error:
        assert "\n" not in str(error)
    else:
        assert problem(profile) == ""
        save(profile, path)
        load(path)


@pytest.mark.parametrize("name", ["time_p4.cubex", "fastest_p16.cubex", "blast_p64_bigendian.cubex"])
def test_totals_of_real_files_are_those_pycubexr_reads(name: str) -> None:
    path = real(name)
    profile = import_profile(path)
    assert problem(profile) == ""
    with CubexParser(str(path)) as file:
        (root,) = file.get_root_cnodes()

        def total(metric: str) -> float:
            values = file.get_metric_values(file.get_metric_by_name(metric))
            return float(values.value(root, convert_to_inclusive=True))

        assert profile.cells["calls"].sum() == total("visits")
        assert profile.cells["time"].sum() == pytest.approx(total("time"))
        assert profile.mpi_rows["sent"].sum() == total("bytes_sent")
        assert profile.mpi_rows["received"].sum() == total("bytes_received")
        assert profile.ranks == len(file.get_locations())


def test_every_collective_of_a_real_file_with_known_messages_has_their_size() -> None:
    """Every message of this program has 8,000 bytes."""
    profile = import_profile(real("time_p4.cubex"))
    sizes = {
        (spot.function, entry.kind, entry.size)
        for spot in hot_spots(profile)
        for entry in spot.sizes
        if entry.kind != NONE and spot.function != "MPI_Barrier"
    }
    functions = ("Allgather", "Allreduce", "Bcast", "Gather", "Recv", "Reduce", "Scatter", "Send")
    assert sizes == {(f"MPI_{name}", MEAN, 8000) for name in functions}
    assert profile.comms == (Comm(4, 4),)


def test_a_real_file_without_times_is_refused() -> None:
    with pytest.raises(UserError, match="metric time"):
        import_profile(real("every_dtype.cubex"))


def test_numbers_of_a_profile_that_was_read_are_plain(tmp_path: Path) -> None:
    profile = import_profile(write(tmp_path / "p.cubex", small()))
    assert profile.cells.dtype.isnative
    assert np.isnan(profile.cells["waiting"]).all()
