"""Asking other programs, never for longer than a deadline."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from unisono.core.language import _

_MOST = 64 << 20
"""Bytes of an answer. All parameters of an MPI are two million."""


@dataclass(frozen=True)
class Answer:
    status: int
    """Exit status; 124 when it was stopped at its deadline, 127 when it could not be started."""
    out: str
    error: str

    @property
    def ok(self) -> bool:
        return self.status == 0


def ask(
    argv: Sequence[str], timeout: float = 10.0, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> Answer:
    """Run a program with no input and return what it said. `env` is added to this process's environment.

    It gets a session of its own, and at the deadline all of it is killed: a wrapper script may have children.
    """
    try:
        process = subprocess.Popen(
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **(env or {})},
            cwd=cwd,
            start_new_session=True,
        )
    except OSError as error:
        return Answer(127, "", f"{argv[0]}: {error.strerror or error}")
    with process:
        end = time.monotonic() + timeout
        heard, whole = _heard(process, end)
        if whole:
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(0.1, end - time.monotonic()))
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            late = time.monotonic() >= end
            why = (
                _("no answer within {timeout:g} s").format(timeout=timeout)
                if late
                else _("its answer has more than {most:,} bytes").format(most=_MOST)
            )
            return Answer(124, "", f"{argv[0]}: {why}")
    return Answer(process.returncode, *(text.decode("utf-8", "replace") for text in heard))


def _heard(process: subprocess.Popen[bytes], end: float) -> tuple[list[bytearray], bool]:
    """What it wrote to stdout and stderr until `end`, and whether that is all."""
    streams = [process.stdout, process.stderr]
    heard = [bytearray(), bytearray()]
    with selectors.DefaultSelector() as waiting:
        for stream, text in zip(streams, heard, strict=True):
            assert stream is not None
            waiting.register(stream, selectors.EVENT_READ, text)
        while waiting.get_map() and (left := end - time.monotonic()) > 0:
            for key, _ in waiting.select(left):
                part = os.read(key.fd, 1 << 16)
                key.data.extend(part)
                if not part:
                    waiting.unregister(key.fileobj)
                if len(key.data) > _MOST:
                    return heard, False
        return heard, not waiting.get_map()
