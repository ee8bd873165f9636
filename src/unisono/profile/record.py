"""Running a program with the recorder, and reading what it wrote."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

from unisono.cmdline.command import Command
from unisono.cmdline.preload import Launcher, compiler_of, launcher_of, with_variables
from unisono.core.errors import UserError
from unisono.core.language import N_, _
from unisono.core.reading import read_text
from unisono.inventory.describe import describe, read_machine
from unisono.inventory.mpi import find_mpirun
from unisono.launch.failure import explain
from unisono.launch.process import run as run_process
from unisono.library.recorder import recorder
from unisono.machine.description import Machine
from unisono.machine.files import ROOT
from unisono.machine.fingerprint import fingerprint
from unisono.mpi.found import find_mpicc
from unisono.profile.diagnose import library_of, mismatch, mpirun_of, nothing_recorded, other_library, program_of
from unisono.profile.passed import Passed
from unisono.profile.raw import read_raw
from unisono.profile.recorded import Profile

DEPTH_MOST = 16


@dataclass(frozen=True, slots=True)
class Options:
    """What is recorded."""

    depth: int = 8
    """Frames of a call path, 0 to 16."""
    split_waiting: bool = False
    """Tell waiting for others from transfer, with a barrier before each collective."""
    filter: Path | None = None
    """Functions to leave out."""
    memory: int | None = None
    """Bytes of tables per rank; None: the recorder's own default."""

    def variables(self, prefix: Path) -> dict[str, str]:
        """For the ranks' environment. Raises UserError for a depth or filter that cannot be."""
        if not 0 <= self.depth <= DEPTH_MOST:
            raise UserError(
                _("--depth: {depth} frames cannot be kept; use 0 to {depth_most}").format(
                    depth=self.depth, depth_most=DEPTH_MOST
                )
            )
        said = {"UNISONO_PROFILE": str(prefix), "UNISONO_PROFILE_DEPTH": str(self.depth)}
        if self.split_waiting:
            said["UNISONO_PROFILE_SPLIT_WAITING"] = "1"
        if self.filter is not None:
            _check_filter(self.filter)
            said["UNISONO_PROFILE_FILTER"] = str(self.filter.absolute())
        if self.memory is not None:
            said["UNISONO_PROFILE_MEMORY"] = str(self.memory)
        return said


def _check_filter(path: Path) -> None:
    """Raises UserError for a filter the recorder would not understand (native/intercept/filter.c)."""
    try:
        lines = read_text(path).splitlines()
    except UserError as error:
        raise UserError(_("--filter: {error}").format(error=error)) from error
    for number, line in enumerate(lines, start=1):
        words = line.partition("#")[0].split()
        if words and (len(words) != 2 or words[0] not in ("exclude", "include")):
            raise UserError(
                _("{path}, line {number}: {line!r} is no rule; write 'exclude MPI_Iprobe' or 'include MPI_*'").format(
                    path=path, number=number, line=line.strip()
                )
            )


class Recording:
    """One run of a user's command line with the recorder: run `command` as you like, then ask for `profile()`.

    A context manager: the ranks' files are in a folder of their own under `folder`, which all nodes must see, and go
    when it ends. `line` is the user's command line; `mpicc` builds the recorder where the launcher does not tell.
    Raises UserError for a line that starts no MPI program we could find, a program of another MPI than its mpirun, and
    as library.native.built does.
    """

    def __init__(
        self,
        line: Command,
        options: Options,
        folder: Path,
        *,
        mpicc: str | None = None,
        env: Mapping[str, str] | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> None:
        base = {**(os.environ if env is None else env), **line.env}
        self.launcher = launcher_of(line.argv)
        self._program = program_of(line.argv, self.launcher)
        library = recorder(_compiler(self.launcher, self._program, mpicc), progress)
        own = library_of(library)
        wrong = mismatch(self._program, own)
        if wrong:
            raise UserError(wrong)
        self._filter = options.filter
        self._shown = line.shell
        options.variables(folder)  # what is wrong with them is said before there is a folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._folder = Path(tempfile.mkdtemp(prefix=".recording-", dir=folder)).absolute()
        except OSError as error:
            raise UserError(
                _("{folder}: cannot be written: {strerror}").format(folder=folder, strerror=error.strerror)
            ) from error
        self._prefix = self._folder / "run"
        added = with_variables(line.argv, self.launcher, library, options.variables(self._prefix), base)
        notes = [*line.notes, *added.notes, *([doubt] if (doubt := other_library(self._program, own)) else [])]
        self.command = Command(added.argv, {**line.env, **added.env}, line.placement, notes)

    def __enter__(self) -> Recording:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def profile(
        self, exit_status: int, seconds: float = float("nan"), machine: Machine | None = None, said: str = ""
    ) -> Profile:
        """What was recorded. `exit_status`, `seconds` (wall time) and what was `said` on stderr are of the run;
        `machine` gives the fingerprint.

        A rank's file that was cut off when the rank was killed is left out with a note. Raises UserError, with the
        reason as far as it can be seen, when nothing was recorded.
        """
        whole = self._prefix.with_name("run.raw")
        files = [whole] if whole.exists() else sorted(self._folder.glob("run.rank*.raw"), key=_rank)
        if not files:
            raise UserError(nothing_recorded(self._program, exit_status, self.launcher.words is not None, said))
        profile, notes = _readable(files)
        origin = replace(
            profile.origin,
            command=self._shown,
            profiled=seconds,
            machine=fingerprint(machine) if machine is not None else {},
        )
        if not len(profile.mpi_rows):
            notes.append(N_("no call of MPI was recorded: were all left out by the filter, or by MPI_Pcontrol(0)?"))
        elif self._filter is not None:
            notes.append(
                N_("the calls that {filter} leaves out are in no row; their time counts as the program's own").format(
                    filter=self._filter
                )
            )
        notes += _unnamed(profile)
        return replace(profile, origin=origin, notes=(*profile.notes, *notes))


def _unnamed(profile: Profile) -> list[str]:
    """A note where most callers of MPI have no name."""
    callers = [profile.frames[profile.paths[path].frame] for path in set(profile.mpi_rows["path"].tolist()) if path]
    without = [frame for frame in callers if not frame.function]
    if 2 * len(without) <= len(callers):
        return []
    if shutil.which("addr2line") is None:
        return [N_("functions have no names here because addr2line is not installed (it is part of binutils)")]
    return [
        N_("{module} has no symbols, so its functions have no names: build it with -g").format(
            module=without[0].module or N_("the program")
        )
    ]


def _compiler(launcher: Launcher, program: Path | None, mpicc: str | None) -> str | None:
    if mpicc is not None:
        return find_mpicc("", mpicc)
    return compiler_of(launcher) if launcher.path else find_mpicc(mpirun_of(program) or find_mpirun(), None)


def _rank(path: Path) -> int:
    number = path.name.removeprefix("run.rank").removesuffix(".raw")
    return int(number) if re.fullmatch("[0-9]{1,9}", number) else 0


def _readable(files: Sequence[Path]) -> tuple[Profile, list[str]]:
    """All files, or without those that are damaged; the error of the first when none is left."""
    try:
        return read_raw(files), []
    except UserError:
        good, notes = [], []
        for file in files:
            try:
                read_raw([file], lambda places: [() for _ in places])
            except UserError as error:
                notes.append(str(error).replace(f"{file.parent}/", ""))
            else:
                good.append(file)
        if not good:
            raise
        return read_raw(good), notes


def record(line: Command, deadline: float, options: Options, folder: Path, machine: Machine | None = None) -> Profile:
    """The profile of one silent run of `line`, for programs that drive programs.

    Raises UserError as Recording does and when the run fails (its reason is in the message), LaunchError "hung" after
    `deadline` seconds.
    """
    mpicc = machine.mpi.mpicc if machine is not None and machine.mpi is not None else None
    with Recording(line, options, folder, mpicc=mpicc) as recording:
        done = run_process(recording.command.argv, recording.command.env, deadline)
        if done.exit_code != 0:
            failure = explain(done.exit_code, done.stderr)
            raise UserError(
                _("the program fails under the recorder: {status}: {reason}").format(
                    status=failure.status, reason=failure.reason
                )
            )
        return recording.profile(0, done.seconds, machine)


def machine_of(launcher: Launcher) -> Machine:
    """The machine with the MPI of the launcher; without an MPI where that does not answer, or is not driven."""
    if launcher.path:
        # A profile is not lost because ompi_info is missing.
        with suppress(UserError):
            return describe(launcher.path)
    return read_machine(ROOT, os.environ, None, None, affinity=os.sched_getaffinity(0))


# -- running it as if we were not there ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ran:
    exit_status: int
    """As a shell reports it: 128 + the signal that ended the launcher."""
    seconds: float
    """Wall time."""
    signal: int | None
    """What interrupted it, sent to us."""
    output: str = ""
    """What it wrote to the streams that were to be kept."""


def run_through(command: Command, stdin: int | None = None, *, keep: Collection[int] = ()) -> Ran:
    """Runs it with our own stdin (or the file descriptor given), stdout and stderr; what comes on 1 or 2, where that is
    to be kept, through a pipe.

    Signals that would end us (Ctrl-C, a batch system's SIGTERM) end the program instead, and we come back. Raises
    UserError where it cannot be started.
    """
    with _Relay() as relay, ExitStack() as streams:
        kept = {ours: streams.enter_context(Passed(ours)) for ours in keep}
        start = time.monotonic()
        out, error = (kept[ours].fileno() if ours in kept else None for ours in (1, 2))
        try:
            process = subprocess.Popen(
                command.argv, env={**os.environ, **command.env}, stdin=stdin, stdout=out, stderr=error
            )
        except OSError as failed:
            raise UserError(
                _("{argv}: cannot be started: {strerror}").format(argv=command.argv[0], strerror=failed.strerror)
            ) from failed
        relay.to(process)
        code = process.wait()
        seconds = time.monotonic() - start
        streams.close()
        return Ran(
            code if code >= 0 else 128 - code, seconds, relay.last, "\n".join(stream.text for stream in kept.values())
        )


class _Relay:
    """Passes SIGINT, SIGTERM and SIGHUP to a process while it is a context.

    A terminal's Ctrl-C reaches the process by itself, and mpirun takes a second one as an order to give no time to
    clean up. What we were started to ignore (`nohup`) the process ignores too, by inheritance.
    """

    def __init__(self) -> None:
        self.last: int | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._before: dict[int, Any] = {}

    def to(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        if self.last is not None:  # it came while the process was being started
            process.send_signal(self.last)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self.last = number
        if self._process is not None and (number != signal.SIGINT or not _in_terminal_foreground()):
            self._process.send_signal(number)

    def __enter__(self) -> _Relay:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) != signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)


def _in_terminal_foreground() -> bool:
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)
