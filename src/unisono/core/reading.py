"""Reading files that others wrote: never more than a stated number of bytes, never a device, never waiting for ever."""

from __future__ import annotations

import errno
import io
import os
import select
import stat
import time
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from unisono.core.errors import UserError
from unisono.core.language import _

if TYPE_CHECKING:
    from typing_extensions import Buffer

MIB = 1 << 20

DOCUMENT_MOST = 8 * MIB
"""What a person or we write as text: a tuning, a study, rules, a host file, an exported file, a machine, a journal."""
MACHINE_MOST = 64 * MIB
"""What `unisono doctor --json` printed on a machine: its nodes and all their CPUs."""
COORDINATES_MOST = 1 << 30
"""The places of a torus's nodes: 16 million lines."""
REPORT_MOST = 512 * MIB
"""What another tool writes as text: the reports of mpiP and IPM, scorep.score."""
RECORDING_MOST = 2 << 30
"""What our recorder leaves of a run."""
STUDY_MOST = 4 << 30
"""A study.db. One launch a second for a month makes a tenth of it."""

_SILENCE = 30.0
"""Seconds without a byte after which nobody is taken to write into a pipe any more."""
_CHUNK = MIB


def read_bytes(path: Path, most: int) -> bytes:
    """The whole of a regular file, or of a pipe such as a shell's `<(command)`.

    Raises UserError, with the path in it, for a file that cannot be read or has more than `most` bytes, for a device,
    and for a pipe into which nobody writes.
    """
    try:
        _refuse_others(path, path.stat().st_mode, pipe=True)
        # Opening a pipe without a writer would wait for one.
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            found = os.fstat(file)
            _refuse_others(path, found.st_mode, pipe=True)
            if stat.S_ISREG(found.st_mode) and found.st_size > most:
                raise _too_much(path, found.st_size, most)
            return _whole(file, path, found, most)
        finally:
            os.close(file)
    except (OSError, ValueError) as error:  # ValueError: a path with a zero byte
        raise _unreadable(path, error) from error


def read_text(path: Path, most: int = DOCUMENT_MOST) -> str:
    """The same as text: UTF-8, without a byte-order mark. Raises UserError for other encodings too."""
    data = read_bytes(path, most)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(_("{path}: cannot be read: it is not a text file in UTF-8").format(path=path)) from error


def open_regular(path: Path) -> BinaryIO:
    """A regular file, for whoever reads pieces of it and bounds them. Raises UserError for anything else."""
    try:
        _refuse_others(path, path.stat().st_mode, pipe=False)
        number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            _refuse_others(path, os.fstat(number).st_mode, pipe=False)
        except BaseException:
            os.close(number)
            raise
        return io.BufferedReader(_Ending(number, "rb", path))
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error


class _Ending(io.FileIO):
    """A file that is refused where it has nothing to give yet: what is a file only by name would be waited for."""

    def __init__(self, number: int, mode: str, path: Path) -> None:
        super().__init__(number, mode)
        self._path = path

    def readinto(self, buffer: Buffer, /) -> int:
        count = super().readinto(buffer)
        if count is None:  # the descriptor does not wait
            raise _without_end(self._path)
        return count

    def readall(self) -> bytes:
        data = super().readall()
        if data is None:
            raise _without_end(self._path)
        return data


def _whole(file: int, path: Path, found: os.stat_result, most: int) -> bytes:
    pipe = stat.S_ISFIFO(found.st_mode)
    chunk = max(_CHUNK, found.st_size + 1)  # one read takes a whole file, two copies of which may be too much
    parts: list[bytes] = []
    length = 0
    waiting = select.poll()
    waiting.register(file, select.POLLIN)
    heard = time.monotonic()
    while True:
        if pipe and not waiting.poll(1000 * max(0.0, heard + _SILENCE - time.monotonic())):
            raise UserError(
                _("{path}: is a pipe, and nothing came out of it for {silence:.0f} s").format(
                    path=path, silence=_SILENCE
                )
            )
        try:
            part = os.read(file, min(chunk, most + 1 - length))
        except BlockingIOError:
            if not pipe:
                raise _without_end(path) from None
            continue
        if not part:
            return b"".join(parts)
        parts.append(part)
        length += len(part)
        heard = time.monotonic()
        if length > most:
            raise _too_much(path, None, most)


def _refuse_others(path: Path, mode: int, *, pipe: bool) -> None:
    if stat.S_ISREG(mode) or (pipe and stat.S_ISFIFO(mode)):
        return
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    raise UserError(
        _("{path}: is a {value}, which is not read; give a file").format(
            path=path, value=_("pipe") if stat.S_ISFIFO(mode) else _("socket") if stat.S_ISSOCK(mode) else _("device")
        )
    )


def _without_end(path: Path) -> UserError:
    """Of /proc/kmsg and its like: the kernel's messages as they come, called a regular file."""
    return UserError(_("{path}: is a stream that never ends; give a file").format(path=path))


def _too_much(path: Path, size: int | None, most: int) -> UserError:
    has = _("{size:,} bytes").format(size=size) if size is not None else "more"
    return UserError(
        _("{path}: has {has}; a file of its kind has at most {most:,}").format(path=path, has=has, most=most)
    )


def _unreadable(path: Path, error: Exception) -> UserError:
    return UserError(
        _("{path}: cannot be read: {error}").format(path=path, error=getattr(error, "strerror", None) or error)
    )
