"""What killed launches left behind: each launch is noted while it runs, and the note of a dead one says what was its.

A launch is ended by its driver, or by its guard where the driver was killed. Where both were killed with it (a batch
system, or the kernel for want of memory), segments of shared memory stay, mpirun's folder, and perhaps ranks. What is
removed is proven to be a dead launch's own: made by this user on this host since the launch began, with the name of its
job or noted by path and inode, and mapped by no process.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from unisono.core.cache import cache
from unisono.launch import tree

_KEPT_SECONDS = 30 * 24 * 3600.0
"""Notes of other hosts, which may no longer exist, are kept so long."""


@dataclass(frozen=True, slots=True)
class Note:
    """One launch. Processes are pids with their start in clock ticks since boot."""

    place: tuple[str, str, int]
    """Host, boot and namespace of pids, in which the numbers mean something."""
    launch_id: str
    began: float
    """Seconds since 1970."""
    root: int
    """mpirun."""
    watchers: tuple[tuple[int, int], ...]
    """The driver and the guard: while one of them lives, the launch is theirs."""
    segments: tuple[tuple[str, int], ...] = ()
    """Shared memory that its ranks had mapped: path and inode."""


def path_of(launch_id: str) -> Path:
    """Of the launch's note."""
    return _folder() / f"{launch_id}.json"


def _folder() -> Path:
    """One where nothing can be kept, for a user without a home."""
    try:
        return cache() / "launches"
    except RuntimeError:
        return Path(os.devnull) / "launches"


def write(launch_id: str, began: float, root: int, guard: int, segments: Iterable[Path] = ()) -> None:
    """Note a launch of this process, anew where it is noted. Where no note can be kept, the launch goes on without."""
    noted = []
    for path in segments:
        with contextlib.suppress(OSError):
            noted.append((str(path), path.stat().st_ino))
    with contextlib.suppress(OSError):
        watchers = ((os.getpid(), tree.start(os.getpid())), (guard, tree.start(guard)))
        note = Note(_place(), launch_id, began, root, watchers, tuple(noted))
        path = path_of(launch_id)
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".new")
        partial.write_text(json.dumps(asdict(note)), encoding="utf-8")
        partial.replace(path)


def forget(launch_id: str) -> None:
    """The launch has ended, and nothing of it is left."""
    with contextlib.suppress(OSError):
        path_of(launch_id).unlink()


def clear() -> dict[Path, int]:
    """End what is left of this user's launches on this host that nobody watches any more, and remove what they left:
    its paths, with their sizes in bytes."""
    removed: dict[Path, int] = {}
    for path in sorted(_folder().glob("*.json")):
        try:
            note = _read(path)
        except (OSError, ValueError, LookupError, TypeError):
            continue  # gone meanwhile, or not ours
        host, boot, _ = here = _place()
        if note.place == here:
            if any(tree.start(pid) == start for pid, start in note.watchers):
                continue
            removed |= tree.end(note.root, note.launch_id, note.began, seen=tree.still(note.segments))
        elif not (note.place[0] == host and note.place[1] != boot) and time.time() - note.began < _KEPT_SECONDS:
            continue
        with contextlib.suppress(OSError):
            path.unlink()
    return removed


def _read(path: Path) -> Note:
    found = json.loads(path.read_text(encoding="utf-8"))
    host, boot, space = found["place"]
    return Note(
        (str(host), str(boot), int(space)),
        str(found["launch_id"]),
        float(found["began"]),
        int(found["root"]),
        tuple((int(pid), int(start)) for pid, start in found["watchers"]),
        tuple((str(name), int(inode)) for name, inode in found["segments"]),
    )


def _place() -> tuple[str, str, int]:
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return os.uname().nodename, boot, Path("/proc/self/ns/pid").stat().st_ino
