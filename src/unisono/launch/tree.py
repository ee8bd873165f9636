"""All processes of one launch: found through /proc and ended for certain.

A rank that left mpirun's process group, or whose parent died, is still known by the marker every process of the
launch carries in its environment. Run as a program, this file is the guard of a launch: it waits until the driver
is gone (its end of a pipe closes, whatever killed it) and then ends the launch. It needs the standard library only
and starts with `python -I -S`, so it costs the launch next to nothing.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterable
from pathlib import Path

MARKER = "UNISONO_LAUNCH_ID"
RELEASE = b"done"
"""What the driver says to the guard when the launch has ended by itself."""

_POLL = 0.02
_KILL_PATIENCE = 5.0
"""Seconds to go on killing; longer only helps against a process stuck in the kernel, which nothing helps against."""


def members(root: int, launch_id: str) -> set[int]:
    """Pids of the launch that are alive: `root` (mpirun), its descendants, and every process with the marker.

    Processes of other users cannot be looked into and are never members.
    """
    marker = f"{MARKER}={launch_id}".encode()
    parent: dict[int, int] = {}
    found: set[int] = set()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        pid = int(entry.name)
        try:
            # The name in parentheses may itself hold spaces and parentheses: fields start after the last one.
            state, ppid = (entry / "stat").read_bytes().rpartition(b")")[2].split()[:2]
            if state in (b"Z", b"X"):
                continue
            parent[pid] = int(ppid)
            if marker in (entry / "environ").read_bytes().split(b"\0"):
                found.add(pid)
        except (OSError, ValueError):
            continue
    # A pid is reused in time: root counts only while it carries the marker itself.
    found |= _descendants(found & {root}, parent)
    return found - {os.getpid()}


def _descendants(roots: Iterable[int], parent: dict[int, int]) -> set[int]:
    children: dict[int, list[int]] = {}
    for pid, ppid in parent.items():
        children.setdefault(ppid, []).append(pid)
    found: set[int] = set()
    waiting = list(roots)
    while waiting:
        for child in children.get(waiting.pop(), ()):
            if child not in found:
                found.add(child)
                waiting.append(child)
    return found


def end(root: int, launch_id: str, grace: float = 3.0) -> set[int]:
    """End the launch; returns the pids that would not die (normally none).

    mpirun gets SIGTERM first and `grace` seconds, because only mpirun can end the ranks of other nodes. Whatever is
    left then is killed.
    """
    alive = members(root, launch_id)
    _send({root} if root in alive else alive, signal.SIGTERM)
    deadline = time.monotonic() + grace
    while (alive := members(root, launch_id)) and time.monotonic() < deadline:
        time.sleep(_POLL)
    deadline = time.monotonic() + _KILL_PATIENCE
    while alive and time.monotonic() < deadline:
        _send(alive, signal.SIGKILL)
        time.sleep(_POLL)
        alive = members(root, launch_id)
    return alive


def _send(pids: Iterable[int], number: signal.Signals) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except (ProcessLookupError, PermissionError):
            continue


def guard(root: int, launch_id: str) -> None:
    """Wait for the driver's word or its end; without the word, end the launch."""
    said = b""
    while chunk := os.read(0, 64):
        said += chunk
    if not said.startswith(RELEASE):
        end(root, launch_id)


if __name__ == "__main__":
    guard(int(sys.argv[1]), sys.argv[2])
