"""Reading others' files: no more than was said, no device, no waiting for ever."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from unisono.core import reading
from unisono.core.errors import UserError
from unisono.core.reading import open_regular, read_bytes, read_text


def test_a_file_up_to_its_limit(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * 100)
    assert read_bytes(path, 100) == b"x" * 100
    with pytest.raises(UserError, match="has 100 bytes; a file of its kind has at most 99"):
        read_bytes(path, 99)


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"\xef\xbb\xbfa = 1\n")
    assert read_text(tmp_path / "file") == "a = 1\n"


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null", "/dev/full"])
def test_devices_are_refused(device: str) -> None:
    for read in (read_text, open_regular):
        with pytest.raises(UserError, match=f"{device}: is a device"):
            read(Path(device))


def test_a_socket_is_called_by_its_name(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(tmp_path / "socket"))
        for read in (read_text, open_regular):
            with pytest.raises(UserError, match="is a socket, which is not read"):
                read(tmp_path / "socket")


def test_a_file_only_by_name_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As /proc/kmsg is: it gives the kernel's messages, and then waits for more. Reading that one would take them from
    whoever is to have them, so a pipe stands for it here, of which is said that it is a regular file."""
    path = tmp_path / "kmsg"
    os.mkfifo(path)
    monkeypatch.setattr(stat, "S_ISREG", lambda mode: True)
    monkeypatch.setattr(stat, "S_ISFIFO", lambda mode: False)
    holder = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    try:
        for told in (b"", b"<6>first"):
            os.write(holder, told)
            with pytest.raises(UserError, match="never ends; give a file"):
                read_bytes(path, 100)
            os.write(holder, told)
            with open_regular(path) as file:
                if told:
                    assert file.read(len(told)) == told
                with pytest.raises(UserError, match="never ends; give a file"):
                    file.read(100)
                with pytest.raises(UserError, match="never ends; give a file"):
                    file.read()
    finally:
        os.close(holder)


def test_what_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read: Is a directory"):
        read_text(tmp_path)
    with pytest.raises(UserError, match="cannot be read: No such file"):
        open_regular(tmp_path / "absent")
    with pytest.raises(UserError, match="cannot be read"):
        read_text(tmp_path / "a\0b")
    (tmp_path / "latin").write_bytes(b"\xe4")
    with pytest.raises(UserError, match="cannot be read: it is not a text file in UTF-8"):
        read_text(tmp_path / "latin")


def test_a_pipe_is_read_to_its_end_and_to_its_limit(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(UserError, match="is a pipe, which is not read"):
        open_regular(path)
    for most in (200_000, 199_999):
        writer = threading.Thread(target=lambda: _write(path, 200_000))
        writer.start()
        if most == 200_000:
            assert read_bytes(path, most) == b"x" * 200_000
        else:
            with pytest.raises(UserError, match="has more"):
                read_bytes(path, most)
        writer.join()


def _write(path: Path, count: int) -> None:
    try:
        with path.open("wb") as pipe:
            pipe.write(b"x" * count)
    except BrokenPipeError:
        pass  # the reader had enough


def test_a_pipe_into_which_nobody_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_SILENCE", 0.2)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UserError, match="is a pipe, and nothing came out of it"):
        read_text(tmp_path / "pipe")


_COMMANDS = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
from unisono.cli import main
for line in sys.argv[1:]:
    try:
        main(line.split())
    except SystemExit as ended:
        print(ended.code, file=sys.stderr)
"""


def test_no_command_reads_without_end(tmp_path: Path) -> None:
    """A file of more bytes than there is memory, which takes no room on disk; all commands in one process with little
    memory, since each would take a second to begin."""
    with (tmp_path / "endless").open("wb") as file:
        file.truncate(1 << 40)
    lines = [
        "show endless", "report endless", "compare endless endless", "tune endless --dry-run",
        "tune quick --dry-run --machine endless", "profile show endless", "profile report endless",
        "profile import endless", "advise endless --tuning endless", "lookup endless --collective bcast --size 8",
        "export endless --format ucx", "run --print --tuning endless -- mpirun -n 2 x",
    ]  # fmt: skip
    argv = [sys.executable, "-c", _COMMANDS, *lines]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False)
    said = done.stderr.splitlines()
    assert len(said) == 2 * len(lines), done.stderr
    assert set(said[1::2]) == {"2"}
    assert all("endless: " in line and "memory" not in line for line in said[::2]), done.stderr
