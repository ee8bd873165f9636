"""Asking other programs, never for longer than a deadline."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass


@dataclass(frozen=True)
class Answer:
    status: int
    """Exit status; 124 when it was stopped at its deadline, 127 when it could not be started."""
    out: str
    error: str

    @property
    def ok(self) -> bool:
        return self.status == 0


def ask(argv: Sequence[str], timeout: float = 10.0, env: Mapping[str, str] | None = None) -> Answer:
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
            start_new_session=True,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
    except OSError as error:
        return Answer(127, "", f"{argv[0]}: {error.strerror or error}")
    with process:
        try:
            out, error_text = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            with suppress(subprocess.TimeoutExpired):  # a child that left the session may keep the pipe open
                process.communicate(timeout=1.0)
            return Answer(124, "", f"{argv[0]}: no answer within {timeout:g} s")
    return Answer(process.returncode, out, error_text)
