"""A profile survives its file; everything else is refused with one line."""

from __future__ import annotations

import dataclasses
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.profile.synthetic import synthetic
from unisono.core.errors import UserError
from unisono.profile.file import load, save
from unisono.profile.recorded import CELL, UNKNOWN, Frame, Profile


def same(one: Profile, other: Profile) -> None:
    """Asserts that two profiles hold the same."""
    for field in dataclasses.fields(Profile):
        left, right = getattr(one, field.name), getattr(other, field.name)
        if isinstance(left, np.ndarray):
            assert left.dtype == right.dtype
            assert left.tobytes() == right.tobytes(), field.name
        elif field.name == "origin":
            assert repr(left) == repr(right)  # NaN equals nothing, but is spelled the same
        else:
            assert left == right, field.name


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("profile") / "p.profile"
    save(synthetic(), path)
    return path.read_bytes()


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "q.profile"


def test_a_profile_comes_back_as_it_was(tmp_path: Path) -> None:
    for profile in (synthetic(), synthetic(1, 0, nodes=1), synthetic(256, 100, nodes=8, sizes=3, split_waiting=False)):
        save(profile, tmp_path / "some where" / "p.profile")
        same(profile, load(tmp_path / "some where" / "p.profile"))


OF_VERSION_1 = [name for name in CELL.names or () if name not in ("completed", "completion")]


def old(members: dict[str, bytes]) -> None:
    """As Unisono wrote profiles before it knew what completes nonblocking collectives."""
    edited(version=1)(members)
    array("cells.npy", lambda rows: np.array(rows[OF_VERSION_1].tolist(), [(n, CELL[n]) for n in OF_VERSION_1]))(
        members
    )


def test_a_profile_of_the_first_version(whole: bytes, target: Path) -> None:
    target.write_bytes(repacked(whole, old))
    found = load(target)
    for name in OF_VERSION_1:
        assert found.cells[name].tobytes() == synthetic().cells[name].tobytes(), name
    assert np.isnan(found.cells["completion"]).all() and (found.cells["completed"] == UNKNOWN).all()
    save(found, target)
    same(found, load(target))


def test_the_arrays_of_a_loaded_profile_can_be_changed(whole: bytes, target: Path) -> None:
    target.write_bytes(whole)
    load(target).cells["time"] += 1


def test_saving_leaves_nothing_else_behind_and_keeps_the_old_file_when_it_fails(target: Path) -> None:
    save(synthetic(), target)
    before = target.read_bytes()
    bad = synthetic()
    bad.cells["path"][0] = 10_000
    with pytest.raises(ValueError, match="a row names a path"):
        save(bad, target)
    assert target.read_bytes() == before
    assert [path.name for path in target.parent.iterdir()] == [target.name]


def test_names_that_are_no_text_are_saved_legibly(target: Path) -> None:
    profile = synthetic(2, 1)
    save(dataclasses.replace(profile, frames=(Frame("a\udc80b", "Größe", 16),)), target)
    assert load(target).frames[0] == Frame("a?b", "Größe", 16)


def test_where_it_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot be written"):
        save(synthetic(1, 1, nodes=1), tmp_path / "file" / "p.profile")


def test_what_could_not_be_read_again_is_not_written(target: Path) -> None:
    profile = synthetic(2, 1)
    with pytest.raises(UserError, match="do not fit into a profile; record fewer frames"):
        save(dataclasses.replace(profile, frames=(Frame("f" * (33 << 20)),)), target)
    assert not target.exists()


def test_missing_foreign_and_directory(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read: No such file"):
        load(tmp_path / "none")
    with pytest.raises(UserError, match="cannot be read"):
        load(tmp_path)
    (tmp_path / "text").write_text("no profile")
    with pytest.raises(UserError, match="is not a profile"):
        load(tmp_path / "text")
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("readme", "hello")
    with pytest.raises(UserError, match=r"it has no profile\.json"):
        load(tmp_path / "other.zip")


def repacked(whole: bytes, change: Callable[[dict[str, bytes]], None]) -> bytes:
    """The file with its members changed, checksums right."""
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def edited(**changes: Any) -> Callable[[dict[str, bytes]], None]:
    def change(members: dict[str, bytes]) -> None:
        members["profile.json"] = json.dumps({**json.loads(members["profile.json"]), **changes}).encode()

    return change


def array(name: str, make: Callable[[Any], Any]) -> Callable[[dict[str, bytes]], None]:
    def change(members: dict[str, bytes]) -> None:
        out = io.BytesIO()
        np.save(out, make(np.load(io.BytesIO(members[name]))), allow_pickle=True)
        members[name] = out.getvalue()

    return change


def put(field: str, value: float) -> Callable[[Any], Any]:
    def change(rows: Any) -> Any:
        rows[field][-1] = value
        return rows

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (edited(version=3), "is a profile of version 3; this Unisono reads version 2: update it"),
        (edited(format="other"), "does not say format"),
        (edited(phases=["x"]), 'the first phase is not ""'),
        (edited(functions=[]), 'the first function is not ""'),
        (edited(functions=["", 3]), "profile.json: functions.1: Input should be a valid string"),
        (edited(paths=[[-1, -1], [1, 0]]), "path 1 does not come after its parent"),
        (edited(paths=[[-1, -1], [0, 99]]), "path 1 names a frame"),
        (edited(paths=[]), "no root path"),
        (edited(paths=[[-1, -1], *([n, 0] for n in range(1001))]), "path 1001 is more than 1,000 calls deep"),
        (edited(frames=[]), "names a frame"),
        (edited(comms=[]), "a row names a comm"),
        (edited(notes=None), "notes"),
        (edited(surprise=1), "surprise"),
        (edited(frames=[["f", "m", 2**70, "", 0, False, ""]]), "frames"),
        (edited(frames=[["f", "m", 1, "", -1, False, ""]] * 20), "a frame's line or offset is out of range"),
        (lambda members: members.pop("pairs.npy"), "has no pairs.npy"),
        (lambda members: members.update({"profile.json": b"[" * 100_000}), "does not say format"),
        (lambda members: members.update({"profile.json": b"\xff"}), "does not say format"),
        (lambda members: members.update({"wall.npy": b"PK" * 10}), "wall.npy is not an array"),
        (lambda members: members.update({"cells.npy": members["cells.npy"][:-3]}), "has other rows or columns"),
        (array("cells.npy", put("rank", 8)), "a row names a rank"),
        (array("cells.npy", put("function", -1)), "a row names a function"),
        (array("cells.npy", put("calls", -2)), "negative calls"),
        (array("cells.npy", put("sent", 1 << 62)), "the rows' sent is impossibly large"),
        (array("cells.npy", put("size_min", 1 << 40)), "smallest size is above its largest"),
        (array("cells.npy", put("time", float("nan"))), "time is not a number"),
        (array("cells.npy", put("waiting", float("inf"))), "waiting is not a number"),
        (array("cells.npy", put("completion", -1.0)), "completion is not a number"),
        (array("cells.npy", put("completed", -2)), "negative completed"),
        (edited(version=1), "has other rows or columns"),
        (array("cells.npy", lambda rows: rows[["path", "rank"]]), "has other rows or columns"),
        (array("cells.npy", lambda rows: rows.reshape(1, -1)), "has other rows or columns"),
        (array("wall.npy", lambda rows: np.array([{"a": 1}], dtype=object)), "has other rows or columns"),
        (array("wall.npy", lambda rows: rows * float("inf")), "wall time"),
        (array("wall.npy", lambda rows: rows[:-1]), "a row names a rank"),
        (array("pairs.npy", put("target", 8)), "target is not a rank"),
        (array("pairs.npy", put("bytes", -5)), "negative calls or bytes"),
    ],
)
def test_damage_is_named(whole: bytes, target: Path, change: Callable[[dict[str, bytes]], None], message: str) -> None:
    target.write_bytes(repacked(whole, change))
    with pytest.raises(UserError) as caught:
        load(target)
    assert message in str(caught.value)
    assert str(target) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_unpacks_without_end_is_refused_before_it_is_unpacked(whole: bytes, target: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            with archive.open(name, "w", force_zip64=True) as member:
                member.write(data)
                if name == "cells.npy":
                    for _ in range(80):
                        member.write(bytes(1 << 20))
    assert target.stat().st_size < 1 << 20
    with pytest.raises(UserError, match="would unpack to"):
        load(target)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_ways_of_packing_are_refused(whole: bytes, target: Path, method: int) -> None:
    with zipfile.ZipFile(io.BytesIO(whole)) as archive, zipfile.ZipFile(target, "w", method) as other:
        for name in archive.namelist():
            other.writestr(name, archive.read(name))
    with pytest.raises(UserError, match="packed as Unisono never does"):
        load(target)


def loads_or_says_why(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    try:
        profile = load(path)
    except UserError as error:
        assert "\n" not in str(error)
        return
    list(profile.chain(len(profile.paths) - 1))


@given(st.data())
@settings(max_examples=50, deadline=None)
def test_flipped_bytes_never_end_in_a_traceback(
    tmp_path_factory: pytest.TempPathFactory, whole: bytes, data: st.DataObject
) -> None:
    damaged = bytearray(whole)
    for at, value in data.draw(
        st.lists(st.tuples(st.integers(0, len(whole) - 1), st.integers(0, 255)), min_size=1, max_size=8)
    ):
        damaged[at] = value
    loads_or_says_why(tmp_path_factory.getbasetemp() / "flipped", bytes(damaged))


@given(st.integers(0, 2000), st.booleans())
@settings(max_examples=40, deadline=None)
def test_truncated_files_never_end_in_a_traceback(
    tmp_path_factory: pytest.TempPathFactory, whole: bytes, at: int, front: bool
) -> None:
    loads_or_says_why(tmp_path_factory.getbasetemp() / "cut", whole[at:] if front else whole[:-at])


@given(member=st.sampled_from(["profile.json", "cells.npy", "wall.npy"]), first=st.booleans(), data=st.data())
@settings(max_examples=60, deadline=None)
def test_members_of_any_content_never_end_in_a_traceback(
    tmp_path_factory: pytest.TempPathFactory, whole: bytes, member: str, first: bool, data: st.DataObject
) -> None:
    """The checksums are right here, so that the damage reaches the readers of JSON and arrays; of both versions."""

    def change(members: dict[str, bytes]) -> None:
        if first:
            old(members)
        now = bytearray(members[member])
        at = data.draw(st.integers(0, min(len(now) - 1, 400)))
        now[at : at + data.draw(st.integers(0, 6))] = data.draw(st.binary(max_size=6))
        members[member] = bytes(now)

    loads_or_says_why(tmp_path_factory.getbasetemp() / "member", repacked(whole, change))
