"""A program's output, passed on as it comes and kept to be searched."""

from __future__ import annotations

import os
import threading
from types import TracebackType

_MOST = 1 << 24
"""Bytes that are kept: the last ones, where results stand."""


class Passed:
    """The writing end of a pipe, `fileno()`, for a process; what comes goes on to `to`, a file descriptor of ours.

    As a context: leave it when the process has ended; `text` is complete then.
    """

    def __init__(self, to: int) -> None:
        self._to = to
        self._kept = bytearray()
        self._read, self._write = os.pipe()
        self._thread = threading.Thread(target=self._pass, daemon=True)

    def fileno(self) -> int:
        return self._write

    @property
    def text(self) -> str:
        return self._kept.decode(errors="replace")

    def __enter__(self) -> Passed:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        os.close(self._write)
        # A process that the program left behind may hold the pipe open for as long as it likes.
        self._thread.join(timeout=5.0)

    def _pass(self) -> None:
        deaf = False
        while data := os.read(self._read, 1 << 16):
            self._kept += data
            del self._kept[: max(len(self._kept) - _MOST, 0)]
            rest = memoryview(data)
            while rest and not deaf:
                try:
                    rest = rest[os.write(self._to, rest) :]
                except OSError:  # nobody reads it any more; the program is not to notice
                    deaf = True
        os.close(self._read)
