"""A running launch: lines in, lines out, a deadline on everything, and no process left behind."""

from __future__ import annotations

import math
import os
import secrets
import select
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from unisono.core.errors import LaunchError
from unisono.core.language import N_
from unisono.launch import left, tree
from unisono.launch.failure import STUMBLES, explain, over, stumbled

_STDERR_KEPT = 64 * 1024
_STDOUT_KEPT = 64 << 20
"""Of what a program writes until it ends: the last bytes, where results stand."""
_LINE_MOST = 1 << 30
"""Of the benchmark's: 100,000 ranks with all their CPUs take a tenth of it."""
_SLICE = 0.2
"""Seconds between two looks at whether the process still lives, while nothing arrives."""
_FIRST_LOOK = 1.0
"""Seconds after which a program is first looked at for the shared memory of its ranks, then at twice the time, and so
on: a look reads all of /proc, and a program may begin MPI late."""
_END_PATIENCE = 10.0
"""Seconds mpirun may take to end after it closed its output."""


class Process:
    """mpirun (or any program) in a session of its own, with `env` added to the environment.

    Raises LaunchError "refused" when `argv[0]` cannot be started at all. Use it as a context manager, or call
    `kill()` at the end: both leave no process of the launch alive. When the driver itself is killed, a guard
    (see unisono.launch.tree) ends the launch instead. One thread at a time may use it.
    """

    def __init__(self, argv: Sequence[str], env: Mapping[str, str] | None = None) -> None:
        self.argv = list(argv)
        self.launch_id = secrets.token_hex(8)
        full = {**os.environ, **(env or {}), tree.MARKER: self.launch_id}
        self._began = time.time()
        try:
            self._popen = subprocess.Popen(
                self.argv,
                env=full,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                bufsize=0,
            )
        except OSError as error:
            raise LaunchError(
                "refused", N_("{argv} cannot be started: {strerror}").format(argv=self.argv[0], strerror=error.strerror)
            ) from error
        self._segments: set[Path] = set()
        self._next_look = math.inf
        self._guard = _start_guard(self._popen.pid, self.launch_id, self._began)
        left.write(self.launch_id, self._began, self._popen.pid, self._guard.pid)
        self._buffer = bytearray()
        self._output_ended = False
        self._stderr = bytearray()
        self._stderr_thread = threading.Thread(target=self._collect_stderr, daemon=True)
        self._stderr_thread.start()

    @property
    def pid(self) -> int:
        """Of mpirun."""
        return self._popen.pid

    @property
    def stderr(self) -> str:
        """What was written to stderr so far, at most the last 64 KiB."""
        if self._popen.poll() is not None:
            self._stderr_thread.join(timeout=1)
        return bytes(self._stderr).decode(errors="replace")

    def write_line(self, text: str) -> None:
        """Send one line to rank 0. Raises LaunchError when the launch has ended."""
        assert self._popen.stdin is not None
        try:
            self._popen.stdin.write(text.encode() + b"\n")
        except (BrokenPipeError, ValueError):
            raise self._ended() from None

    def note_segments(self) -> None:
        """Remember the shared memory mapped by now, to be removed by `kill` also if ranks crash and leave it."""
        self._segments |= tree.segments(self._popen.pid, self.launch_id)
        left.write(self.launch_id, self._began, self._popen.pid, self._guard.pid, self._segments)

    def close_input(self) -> None:
        """End of file on rank 0's stdin."""
        assert self._popen.stdin is not None
        self._popen.stdin.close()

    def read_line(self, deadline: float, *, declined: float = math.inf) -> str:
        """The next line of stdout, without its end; waits up to `deadline` seconds, and no more than `declined` once
        mpirun or MPI_Init has said on stderr that it will not: mpirun 5.0.11 now and then stays after that.

        Raises LaunchError: "hung" at the deadline (everything is killed by then), "crashed" or "refused" when the
        launch ended instead of answering.
        """
        end = time.monotonic() + deadline
        scanned = 0
        while (newline := self._buffer.find(b"\n", scanned)) < 0:
            scanned = len(self._buffer)
            if scanned > _LINE_MOST:
                self.kill()
                raise LaunchError(
                    "protocol",
                    N_("a line of its output has more than {line_most:,} bytes").format(line_most=_LINE_MOST),
                )
            if not self._fill(end, deadline, declined):
                break
        if newline < 0 and not self._buffer:
            raise self._ended()
        line = bytes(self._buffer[:newline] if newline >= 0 else self._buffer)
        del self._buffer[: len(line) + 1]
        return line.decode(errors="replace").rstrip("\r")

    def wait(self, deadline: float) -> int:
        """Exit status (negative: the signal that ended mpirun). Remaining output is thrown away.

        Raises LaunchError "hung" at the deadline, when everything is killed.
        """
        self.read_rest(deadline)
        self._buffer.clear()
        return self._popen.wait()

    def read_rest(self, deadline: float) -> str:
        """All remaining output (its last 64 MiB); returns when the launch has ended. Raises LaunchError "hung" at the
        deadline. Meanwhile the shared memory of its ranks is noted now and then."""
        end = time.monotonic() + deadline
        self._next_look = time.time() - self._began + _FIRST_LOOK
        while self._fill(end, deadline):
            if len(self._buffer) > 2 * _STDOUT_KEPT:
                del self._buffer[:-_STDOUT_KEPT]
        while self._popen.poll() is None:
            if time.monotonic() >= end:
                raise self._hung(deadline)
            time.sleep(0.01)
        rest = bytes(self._buffer).decode(errors="replace")
        self._buffer.clear()
        return rest

    def kill(self) -> None:
        """End every process of the launch, also ranks that left the process group. Harmless when it has ended."""
        tree.end(self._popen.pid, self.launch_id, self._began, seen=self._segments)
        left.forget(self.launch_id)
        self._popen.wait()
        self._stderr_thread.join(timeout=1)
        if self._guard.poll() is None:
            self._guard.communicate(tree.RELEASE)
        for stream in (self._popen.stdin, self._popen.stdout):
            assert stream is not None
            stream.close()
        self._output_ended = True

    def __enter__(self) -> Process:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.kill()

    def _fill(self, end: float, deadline: float, declined: float = math.inf) -> bool:
        """Read what there is into the buffer, waiting until `end`; False when there will be no more."""
        assert self._popen.stdout is not None
        if self._output_ended:
            return False
        poll = select.poll()
        poll.register(self._popen.stdout, select.POLLIN)
        while True:
            if (age := time.time() - self._began) >= self._next_look:
                self.note_segments()
                self._next_look = 2 * age
            left = end - time.monotonic()
            ended = self._popen.poll() is not None
            if poll.poll(1000 * max(0.0, min(_SLICE, left))):
                chunk = os.read(self._popen.stdout.fileno(), 1 << 16)
                self._buffer += chunk
                self._output_ended = not chunk
                return bool(chunk)
            if ended:  # A stray process may hold the pipe open: nothing more comes from this launch.
                self._output_ended = True
                return False
            if left <= 0:
                raise self._hung(deadline)
            if declined < left and over(self.stderr):
                end = time.monotonic() + declined

    def _hung(self, deadline: float) -> LaunchError:
        self.kill()
        # When ranks gave up in MPI_Init, or a node was lost, and mpirun stayed, what was said is the reason.
        if known := over(self.stderr):
            return known
        last = self.stderr.strip().splitlines()[-1:]
        said = N_("; its last words: {line}").format(line=last[0].strip()[:200]) if last else ""
        return LaunchError(
            "hung",
            N_("no answer within {deadline:g} s, killed with all its processes{said}").format(
                deadline=deadline, said=said
            ),
        )

    def _ended(self) -> LaunchError:
        try:
            code = self._popen.wait(_END_PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill()
            code = self._popen.wait()
        return explain(code, self.stderr)

    def _collect_stderr(self) -> None:
        assert self._popen.stderr is not None
        with self._popen.stderr as stream:
            while chunk := os.read(stream.fileno(), 1 << 16):
                self._stderr += chunk
                del self._stderr[:-_STDERR_KEPT]


def _start_guard(root: int, launch_id: str, began: float) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-I", "-S", tree.__file__, str(root), launch_id, repr(began), str(left.path_of(launch_id))],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


@dataclass(frozen=True, slots=True)
class Finished:
    """A launch that ran to its end. `exit_code` is mpirun's, negative for a signal; `seconds` is wall time."""

    exit_code: int
    stdout: str
    stderr: str
    seconds: float


def run(argv: Sequence[str], env: Mapping[str, str] | None, deadline: float) -> Finished:
    """Run to the end with nothing on stdin. A launcher that stumbled before it began (see failure) is asked again.

    Raises LaunchError "hung" or "refused" (argv[0] cannot be started).
    """
    for _ in range(STUMBLES):
        finished = _run_once(argv, env, deadline)
        if finished.exit_code == 0 or not stumbled(finished.stderr):
            break
    return finished


def _run_once(argv: Sequence[str], env: Mapping[str, str] | None, deadline: float) -> Finished:
    start = time.monotonic()
    with Process(argv, env) as process:
        process.close_input()
        stdout = process.read_rest(deadline)
        exit_code = process.wait(deadline)
        seconds = time.monotonic() - start
        return Finished(exit_code, stdout, process.stderr, seconds)
