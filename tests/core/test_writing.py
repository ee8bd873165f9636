"""Output files: whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from unisono.core.errors import UserError
from unisono.core.writing import write, written


def test_a_file_is_put_in_place_with_its_directories(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "text"
    before = os.umask(0o027)
    try:
        assert write(path, "für\n") == path
    finally:
        os.umask(before)
    assert path.read_bytes() == "für\n".encode()
    assert [p.name for p in path.parent.iterdir()] == ["text"]
    assert path.stat().st_mode & 0o777 == 0o640


def test_what_is_there_is_replaced_as_a_whole_and_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old and longer")
    path.chmod(0o604)
    held = path.open()
    write(path, b"new")
    assert path.read_text() == "new"
    assert held.read() == "old and longer"
    assert path.stat().st_mode & 0o777 == 0o604


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    link = tmp_path / "link"
    link.symlink_to("real")
    write(link, "new")
    assert link.is_symlink()
    assert (tmp_path / "real").read_text() == "new"


@pytest.mark.parametrize("device", ["/dev/null", "/dev/full"])
def test_a_device_is_refused(device: str) -> None:
    """And still is what it was: root could rename a file over /dev/null."""
    before = Path(device).stat()
    with pytest.raises(UserError, match=rf"{device}: is a device"):
        write(Path(device), "text")
    after = Path(device).stat()
    assert (after.st_rdev, after.st_ino) == (before.st_rdev, before.st_ino)


def test_a_file_without_a_name_is_refused() -> None:
    """What /dev/stdout may be."""
    with tempfile.TemporaryFile() as file, pytest.raises(UserError, match="is a device or a pipe"):
        write(Path(f"/dev/fd/{file.fileno()}"), "text")


def test_a_named_pipe_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UserError, match="pipe: is a device or a pipe"):
        write(tmp_path / "pipe", "text")


def test_a_directory_is_named_as_one(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is a directory; name a file"):
        write(tmp_path, "text")


def test_a_file_in_the_way_of_a_directory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"file/text: cannot be written: Not a directory"):
        write(tmp_path / "file" / "text", "text")


def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    path.write_text("old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UserError, match="file: cannot be written: No space left on device"):
        write(path, "new")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_an_error_while_writing_leaves_nothing_behind(tmp_path: Path) -> None:
    def fail() -> None:
        with written(tmp_path / "file") as stream:
            stream.write(b"half")
            raise ValueError("wrong")

    with pytest.raises(ValueError, match="wrong"):
        fail()
    assert list(tmp_path.iterdir()) == []
