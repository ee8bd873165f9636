"""A user's one virtual cluster that stays up between commands, and leaves nothing behind when it is taken down.

Everything about it lies in one directory with the user's number in its name. A process is the cluster's own if its
command line names that directory in our script's words: this holds however a command ended that was to bring it up.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import signal
import stat
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.vcluster import slurm as batch
from unisono.vcluster.cluster import Nodes, outermost, start, wait_until_ready

_LATENCY = "20ms"
"""How long a packet waits for a shaped link before it is dropped."""
_PATIENCE = 15.0
"""Seconds in which killed processes are gone."""
_RATE = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,3})?)([kmg]bit)")
_NAME = re.compile(r"n(?:ode)?([0-9]{1,3})")


def directory() -> Path:
    """Of this user's cluster, whether it is up or not."""
    return Path(tempfile.gettempdir()) / f"unisono-vcluster-{os.geteuid()}"


def up(nodes: int, ppn: int, rate: str | None, slow: Sequence[str], *, slurm: bool = False) -> Nodes:
    """Bring the cluster up. What an `up` that was killed left is removed first.

    `ppn` slots a node go to the launchers' host files; `rate`, as 1gbit, limits every link, and those of the nodes
    `slow` to half of it; `slurm`: with Slurm on the nodes. Raises UserError for what cannot be, and ClusterError where
    namespaces are not permitted or Slurm does not start.
    """
    rates = _rates(nodes, rate, slow)
    with _locked():
        if is_up():
            raise UserError(_("a virtual cluster is up already; end it with: unisono vcluster down"))
        _remove()
        folder = directory()
        folder.mkdir(mode=0o700)
        (folder / "slots").write_text("".join(f"n{i} slots={ppn}\n" for i in range(nodes)))
        (folder / "ranks").write_text("".join(f"n{i}:{ppn}\n" for i in range(nodes)))
        os.mkfifo(folder / "input")
        # Open for writing by its reader itself, the input never ends.
        held = os.open(folder / "input", os.O_RDWR)
        try:
            with os.fdopen(held, "r+b", buffering=0):
                outer = start(folder, nodes, (rate, _LATENCY) if rate else None, rates, held)
            wait_until_ready(outer)
            cluster = Nodes(folder, outer.pid)
            if slurm:
                batch.start(cluster, ppn)
            (folder / "up").touch()
        except BaseException:
            _remove()
            raise
        return cluster


def is_up() -> bool:
    return (directory() / "up").exists() and bool(_outermost(directory()))


def found() -> Nodes:
    """The cluster that is up. Raises UserError where none is."""
    folder = directory()
    _own(folder)
    if not is_up():
        raise UserError(_("no virtual cluster is up; begin with: unisono vcluster up --nodes 4 --ppn 2"))
    return Nodes(folder, _outermost(folder)[0])


def environment(nodes: Nodes) -> dict[str, str]:
    """For commands on the login host: launchers reach the nodes, and use all of them where nothing else is said. With
    Slurm they do so in its jobs alone, as on a real cluster."""
    if batch.is_started(nodes):
        return batch.environment(nodes)
    slots, ranks = str(nodes.directory / "slots"), str(nodes.directory / "ranks")
    return {
        **nodes.env,
        "PRTE_MCA_prte_default_hostfile": slots,
        "OMPI_MCA_orte_default_hostfile": slots,
        "HYDRA_HOST_FILE": ranks,
        "I_MPI_HYDRA_HOST_FILE": ranks,
    }


def hosts(nodes: Nodes) -> str:
    """As --hosts and mpirun's --host take them: n0:2,n1:2."""
    return ",".join((nodes.directory / "ranks").read_text().split())


def down() -> bool:
    """End the cluster with all that runs in it, or what is left of one; whether there was anything."""
    if not _own(directory()):
        return False
    with _locked():
        _remove()
    return True


def _rates(nodes: int, rate: str | None, slow: Sequence[str]) -> list[str]:
    """Of the links of all nodes; empty where none is slow."""
    given = _RATE.fullmatch(rate) if rate is not None else None
    if rate is not None and (given is None or not float(given[1])):
        raise UserError(_("--rate {rate}: write for example 1gbit or 100mbit").format(rate=rate[:80]))
    if not slow:
        return []
    if rate is None or given is None:
        raise UserError(_("--slow halves the rate of a node's link: say --rate too, for example --rate 1gbit"))
    rates = [rate] * nodes
    for name in slow:
        match = _NAME.fullmatch(name)
        if match is None or int(match[1]) >= nodes:
            raise UserError(
                _("--slow {name}: no such node; there are n0 to n{last}").format(name=name[:80], last=nodes - 1)
            )
        rates[int(match[1])] = f"{float(given[1]) / 2:g}{given[2]}"
    return rates


def _own(folder: Path) -> bool:
    """Whether it is there. Raises UserError where somebody else made it."""
    try:
        there = folder.lstat()
    except FileNotFoundError:
        return False
    if not stat.S_ISDIR(there.st_mode) or there.st_uid != os.geteuid():
        raise UserError(
            _("{path}: is not a directory of yours, so it cannot be the virtual cluster's; set TMPDIR").format(
                path=folder
            )
        )
    return True


@contextlib.contextmanager
def _locked() -> Iterator[None]:
    """One command at a time; the lock goes with the process that holds it, however it ends."""
    path = directory().with_suffix(".lock")
    try:
        lock = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_CREAT, 0o600)
    except OSError as error:
        raise UserError(_("{path}: cannot be written: {problem}").format(path=path, problem=error.strerror)) from error
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise UserError(_("another unisono vcluster is at work; wait for it")) from error
        try:
            yield
        finally:
            path.unlink(missing_ok=True)
    finally:
        os.close(lock)


def _outermost(folder: Path) -> list[int]:
    """Processes of this user that hold the cluster of this directory, seen from here; whichever installation of Unisono
    has started them, since it may have been replaced in between."""
    _script, *rest = outermost(folder)
    words = "\0".join(["/cluster.sh", *rest, ""]).encode()
    mine = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            line = (process / "cmdline").read_bytes()
            if line.startswith(b"unshare\0") and words in line and process.stat().st_uid == os.geteuid():
                mine.append(int(process.name))
    return mine


def _remove() -> None:
    """With the outermost process dies the first one in its namespace, and so all."""
    folder = directory()
    if not _own(folder):
        return
    deadline = time.monotonic() + _PATIENCE
    for pid in _outermost(folder):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    while _named(folder) and time.monotonic() < deadline:
        time.sleep(0.02)
    shutil.rmtree(folder)


def _named(folder: Path) -> bool:
    """Whether a process of the cluster is left, the nodes' own among them."""
    word = f"\0{folder}\0".encode()
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            line = (process / "cmdline").read_bytes()
            if word in line and b"cluster.sh\0" in line:
                return True
    return False
