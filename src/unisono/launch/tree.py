"""All processes of one launch: found through /proc and ended for certain.

A rank that left mpirun's process group, or whose parent died, is still known by the marker every process of the
launch carries in its environment. Run as a program, this file is the guard of a launch: it waits until the driver
is gone (its end of a pipe closes, whatever killed it) and then ends the launch. It needs the standard library only
and starts with `python -I -S`, so it costs the launch next to nothing.
"""

from __future__ import annotations

import contextlib
import glob
import json
import os
import signal
import stat
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

MARKER = "UNISONO_LAUNCH_ID"
RELEASE = b"done"
"""What the driver says to the guard when the launch has ended by itself."""

_SHARED_MEMORY = "/dev/shm/"
_CLOCK_SLACK = 1.0
"""Seconds by which a file may seem older than it is: files get the time of the kernel's last tick."""
_POLL = 0.02
_KILL_PATIENCE = 5.0
"""Seconds to go on killing; longer only helps against a process stuck in the kernel, which nothing helps against."""


@dataclass(frozen=True, slots=True)
class _Running:
    parent: int
    start: int
    """In clock ticks since boot: with the pid it tells a process from a later one of the same number."""
    marked: bool


def _running(launch_id: str) -> dict[int, _Running]:
    """Every process that is alive and can be looked into; those of other users cannot."""
    marker = f"{MARKER}={launch_id}".encode()
    found: dict[int, _Running] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            # The name in parentheses may itself hold spaces and parentheses: fields start after the last one.
            fields = (entry / "stat").read_bytes().rpartition(b")")[2].split()
            marked = marker in (entry / "environ").read_bytes().split(b"\0")
            if fields[0] not in (b"Z", b"X"):
                found[int(entry.name)] = _Running(int(fields[1]), int(fields[19]), marked)
        except (OSError, ValueError, IndexError):
            continue
    found.pop(os.getpid(), None)
    return found


def _members(root: int, launch_id: str, known: dict[int, int]) -> dict[int, int]:
    """Pid -> start of what is alive of the launch. `known`, of the same form, is what was seen of it before: a process
    whose parent has died and that has no marker can be told in no other way."""
    running = _running(launch_id)
    found = {pid for pid, process in running.items() if process.marked}
    found |= {pid for pid, start in known.items() if pid in running and running[pid].start == start}
    # A pid is reused in time, so root and its children count only while root carries the marker or was seen before.
    children: dict[int, list[int]] = {}
    for pid, process in running.items():
        children.setdefault(process.parent, []).append(pid)
    waiting = [pid for pid in found if pid == root or pid in known]
    while waiting:
        new = [child for child in children.get(waiting.pop(), ()) if child not in found]
        found.update(new)
        waiting += new
    return {pid: running[pid].start for pid in found}


def members(root: int, launch_id: str) -> set[int]:
    """Pids of the launch that are alive: `root` (mpirun), its descendants, and every process with the marker."""
    return set(_members(root, launch_id, {}))


def segments(root: int, launch_id: str) -> set[Path]:
    """Shared memory the launch has mapped so far."""
    return _segments(members(root, launch_id))


def end(root: int, launch_id: str, began: float, *, grace: float = 3.0, seen: Iterable[Path] = ()) -> dict[Path, int]:
    """End the launch that began then (seconds since 1970); what was removed for it, with its size in bytes.

    mpirun gets SIGTERM first and `grace` seconds, because only mpirun can end the ranks of other nodes. Whatever is
    left then is killed. Segments of shared memory that ranks had no time to remove are removed for them: each holds
    memory until the next boot. These are the ones that ranks map while they are being ended, also those they make
    only then, the ones with the job's name, and `seen`: those of ranks that may have died already. So are the folders
    of an Open MPI's mpirun that was killed.
    """
    alive = _members(root, launch_id, {})
    left = set(seen)
    _send([root] if root in alive else alive, signal.SIGTERM)
    deadline = time.monotonic() + grace
    while alive and time.monotonic() < deadline:
        left |= _segments(alive)
        time.sleep(_POLL)
        alive = _members(root, launch_id, alive)
    deadline = time.monotonic() + _KILL_PATIENCE
    while alive and time.monotonic() < deadline:
        left |= _segments(alive)
        _send(alive, signal.SIGKILL)
        time.sleep(_POLL)
        alive = _members(root, launch_id, alive)
    return _remove(left | _named(root, began)) | _remove_folders(root, began)


def job_family(host: str, root: int) -> tuple[int, int]:
    """The number of mpirun `root`'s job under Open MPI 4 and 5, 16 bits each: the first half of its segments' names.

    Both fold a hash (Jenkins's, one byte at a time) to 16 bits: of the host's name, with the pid put over it, before
    5.0; of the name that PRRTE gives the job, which holds both, from 5.0 on.
    """
    return _folded(_hash(host) ^ root), _folded(_hash(f"prterun-{host}-{root}"))


def family_of(segment: Path) -> int:
    """The number of the job in a segment's name, whose digits have no zeros in front; -1 for any other file."""
    try:
        return int(segment.name.split(".")[-2], 16) >> 16
    except (IndexError, ValueError):
        return -1


def _hash(text: str) -> int:
    value = 0
    for byte in text.encode():
        value = (value + byte) & 0xFFFFFFFF
        value = (value + (value << 10)) & 0xFFFFFFFF
        value ^= value >> 6
    value = (value + (value << 3)) & 0xFFFFFFFF
    value ^= value >> 11
    return (value + (value << 15)) & 0xFFFFFFFF


def _folded(value: int) -> int:
    return (value >> 16) ^ (value & 0xFFFF)


def _named(root: int, began: float) -> set[Path]:
    """Segments with the name of mpirun's job, on this host and by this user, made since the launch began."""
    host = os.uname().nodename
    found = set()
    for name in {host, host.partition(".")[0]}:
        for kind, family in zip(("vader", "sm"), job_family(name, root), strict=True):
            for path in Path(_SHARED_MEMORY).glob(f"{kind}_segment.{glob.escape(name)}.{os.getuid()}.*"):
                with contextlib.suppress(OSError):
                    if family_of(path) == family and path.stat().st_ctime >= began - _CLOCK_SLACK:
                        found.add(path)
    return found


def _segments(pids: Iterable[int]) -> set[Path]:
    """Files in shared memory that these processes map, by their names in the file system."""
    found = set()
    for pid in pids:
        try:
            lines = Path(f"/proc/{pid}/maps").read_text(errors="replace").splitlines()
        except OSError:
            continue  # it has ended meanwhile, or belongs to somebody else
        for line in lines:
            path = line.partition(_SHARED_MEMORY)[2]
            if path and not path.endswith(" (deleted)"):
                found.add(Path(_SHARED_MEMORY + path))
    return found


def _remove(segments: set[Path]) -> dict[Path, int]:
    """Remove our own segments that nobody maps any more; these, with their sizes."""
    removed: dict[Path, int] = {}
    if not segments:
        return removed
    used = _segments(int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())
    for path in segments - used:
        with contextlib.suppress(OSError):
            found = path.stat()
            if found.st_uid == os.getuid():
                path.unlink()
                removed[path] = found.st_size
    return removed


def start(pid: int) -> int:
    """When the process began, in clock ticks since boot, whoever's it is; 0 where there is none, or it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return 0 if fields[0] in (b"Z", b"X") else int(fields[19])
    except (OSError, ValueError, IndexError):
        return 0


def folders(root: int) -> list[Path]:
    """Where mpirun `root` of Open MPI 5.0.11 and 4.1 keeps its sockets and files, below the folder for temporary files.

    They stay where it is killed. An mpirun of 5.0.11 that is given the same pid later finds the folder, says that its
    PMIx server's listener thread failed to start, and ends with status 213; it removes the folder, so the next works.
    """
    places = {os.environ.get(name) or "/tmp" for name in ("TMPDIR", "TEMP", "TMP")}
    own = [f"ompi.{root}", f"ompi.{os.uname().nodename}.{os.getuid()}/pid.{root}"]
    return sorted(Path(place, name) for place in places for name in own)


def _remove_folders(root: int, began: float) -> dict[Path, int]:
    """Remove what mpirun `root` kept since its launch began; the folders, with what their files took. Nothing while
    there is a process of that pid: it may be an mpirun of later."""
    import shutil  # not above: each launch has a guard that starts anew, and hardly any comes here

    removed: dict[Path, int] = {}
    if start(root):
        return removed
    for folder in folders(root):
        with contextlib.suppress(OSError):
            found = folder.lstat()
            if stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and found.st_ctime >= began - _CLOCK_SLACK:
                size = sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())
                shutil.rmtree(folder)
                removed[folder] = size
    return removed


def _send(pids: Iterable[int], number: signal.Signals) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except (ProcessLookupError, PermissionError):
            continue


def still(segments: Iterable[tuple[str, int]]) -> set[Path]:
    """Of these files, by path and inode, the ones that are still there."""
    found = set()
    for name, inode in segments:
        with contextlib.suppress(OSError):
            if Path(name).stat().st_ino == inode:
                found.add(Path(name))
    return found


def remove(segments: Iterable[tuple[str, int]]) -> dict[Path, int]:
    """Remove what is left of shared memory that a launch is known to have mapped (path and inode), and that no process
    maps any more; what was removed, with its size in bytes."""
    return _remove(still(segments))


def guard(root: int, launch_id: str, began: float, record: Path) -> None:
    """Wait for the driver's word or its end; without the word, end the launch. `record` is what the driver noted."""
    said = b""
    while chunk := os.read(0, 64):
        said += chunk
    if said.startswith(RELEASE):
        return
    seen: set[Path] = set()
    with contextlib.suppress(OSError, ValueError, LookupError, TypeError):
        seen = still(json.loads(record.read_text())["segments"])
    end(root, launch_id, began, seen=seen)
    with contextlib.suppress(OSError):
        record.unlink()


if __name__ == "__main__":
    guard(int(sys.argv[1]), sys.argv[2], float(sys.argv[3]), Path(sys.argv[4]))
