"""unisono profile -- mpirun ...: run a program with the recorder."""

from __future__ import annotations

import math
import os
import signal
import stat
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from unisono.commands.console import err, say
from unisono.commands.userline import words_of
from unisono.core.display import percent, signed_percent
from unisono.core.errors import UserError
from unisono.core.language import _, translated
from unisono.core.writing import write

if TYPE_CHECKING:
    from unisono.advise.runs import Metric
    from unisono.cmdline.command import Command
    from unisono.machine.description import Machine
    from unisono.profile.record import Ran, Recording
    from unisono.profile.recorded import Profile

_WORTH_SAYING = 0.001
"""A cost of recording below this share of the time is only stated as being below."""


def profile(
    argv: list[str],
    output: Path,
    *,
    as_is: int = 0,
    depth: int = 8,
    split_waiting: bool = False,
    filter: Path | None = None,
    metric: str | None = None,
    mpicc: str | None = None,
) -> int:
    """Runs the command line with the recorder and writes its profile to `output`; the exit status is the program's.

    With `as_is` also times that many runs without the recorder, half before and half after: mpirun's wall time, or what
    the regular expression `metric` finds in the output. Everything we say goes to stderr; stdin, stdout and stderr are
    otherwise the program's. What an interrupted program recorded is kept. Raises UserError when a program that ended
    well recorded nothing, or does not print the metric.
    """
    from unisono.advise.runs import Metric
    from unisono.cmdline.command import Command
    from unisono.cmdline.missing import refuse_missing
    from unisono.cmdline.preload import launcher_of
    from unisono.commands.as_it_is import without_our_library
    from unisono.profile.record import Options, Recording, machine_of

    words = words_of(argv)
    if as_is < 0:
        raise UserError(_("--as-is: {as_is} runs; give 0 or more").format(as_is=as_is))
    if metric is not None and as_is == 0:
        raise UserError(
            _("--metric: has nothing to compare without --as-is N, which adds N runs without the recorder; give both")
        )
    wanted = Metric(metric)
    launcher = launcher_of(words)
    machine = without_our_library(lambda: machine_of(launcher))
    refuse_missing(words, machine, os.environ)
    line = Command(words, {}, None, [])
    options = Options(depth, split_waiting, filter)
    with Recording(line, options, output.parent, mpicc=mpicc, progress=say) as recording:
        for note in recording.command.notes:
            say(translated(note))
        return _Runs(line, recording, output, wanted, machine).all(as_is)


class _Runs:
    """The runs of one command, in turn."""

    def __init__(self, line: Command, recording: Recording, output: Path, metric: Metric, machine: Machine) -> None:
        self.line = line
        self.recording = recording
        self.output = output
        self.metric = metric
        self.machine = machine
        self.times: list[float] = []
        self._stdin = _Stdin()

    def all(self, as_is: int) -> int:
        before = (as_is + 1) // 2
        interrupted = self._as_is(range(before), as_is)
        if interrupted is not None:
            say(_("interrupted before the program was profiled"))
            return interrupted
        if as_is:
            say(_("the run with the recorder"))
        ran = self._run(self.recording.command)
        try:
            found = self._profile(ran)
        except UserError as error:
            if ran.exit_status == 0:
                raise
            say(str(error))  # the program failed by itself: its own words and status matter more
            return ran.exit_status
        if ran.signal is None and len(self.times) == before:
            self._as_is(range(before, as_is), as_is)
        self._finish(found, ran)
        return ran.exit_status

    def _as_is(self, numbers: range, of: int) -> int | None:
        """Runs without the recorder, until one fails; the exit status of one that was interrupted."""
        for number in numbers:
            say(_("run {number} of {count} without the recorder").format(number=number + 1, count=of))
            ran = self._run(self.line)
            if ran.signal is not None:
                return ran.exit_status
            if ran.exit_status:
                say(
                    _(
                        "the program ended with exit status {exit_status}: this time does not count, and no further "
                        "runs are timed"
                    ).format(exit_status=ran.exit_status)
                )
                return None
            self.times.append(self._time(ran))
        return None

    def _run(self, command: Command) -> Ran:
        from unisono.profile.record import run_through

        # It may say why there is no profile. A script's terminal stays one; that of ranks is none anyway.
        heard = self.recording.launcher.words is not None or not os.isatty(2)
        keep = (1, 2) if self.metric.pattern is not None else (2,) if heard else ()
        return run_through(command, self._stdin.again(command is self.recording.command), keep=keep)

    def _time(self, ran: Ran) -> float:
        """Wall time, or what the metric finds."""
        if self.metric.pattern is None:
            return ran.seconds
        found = self.metric.find(ran.output)
        if found is None:
            raise UserError(
                _("metric: {pattern!r} matches nothing in the program's output; look at what it prints").format(
                    pattern=self.metric.pattern
                )
            )
        return found

    def _profile(self, ran: Ran) -> Profile:
        return self.recording.profile(ran.exit_status, ran.seconds, self.machine, ran.output)

    def _finish(self, found: Profile, ran: Ran) -> None:
        from dataclasses import replace

        from unisono.profile.file import save
        from unisono.profile.hot import hot_spots
        from unisono.profile.words import answer

        profiled = found.origin.profiled
        if self.metric.pattern is not None:
            # A profile without its comparison is better than none.
            profiled = self.metric.find(ran.output) or math.nan
        origin = replace(found.origin, as_is=tuple(self.times), profiled=profiled, metric=self.metric.pattern or "")
        found = replace(found, origin=origin)
        console = err()
        self._keep_earlier()
        save(found, self.output)
        if ran.signal is not None:
            name = signal.Signals(ran.signal).name
            console.print(
                _("Interrupted by {name}: what was recorded up to there is kept.").format(name=name), markup=False
            )
        for note in found.notes:
            console.print(_("Note: {note}").format(note=translated(note)), markup=False, soft_wrap=True)
        console.print(answer(found, hot_spots(found)), markup=False, style="bold", soft_wrap=True)
        for sentence in self._costs(found):
            console.print(sentence, markup=False, soft_wrap=True)
        console.print(
            _("Profile: {output}; see it with: unisono profile show {output}").format(output=self.output), markup=False
        )

    def _keep_earlier(self) -> None:
        """What is at `output` may be of another program, and of a long run. A copy might not fit beside the new one."""
        if not self.output.is_file():
            return
        kept, reason = self.output.with_suffix(f".old{self.output.suffix}"), ""
        said = _("The earlier {output} is kept as {kept}.")
        try:
            self.output.replace(kept)
        except OSError as error:  # what was recorded now must not be lost for it
            reason = str(error.strerror)
            said = _("Warning: the earlier {output} is replaced; it could not be kept as {kept}: {reason}.")
        err().print(said.format(output=self.output, kept=kept, reason=reason), markup=False, soft_wrap=True)

    def _costs(self, found: Profile) -> list[str]:
        """What recording cost: estimated, measured, and what to do where it is too much."""
        from unisono.profile.cost import LEAST_RUNS, costly, difference, estimated, filter_text

        said = [_estimate(estimated(found), found)]
        if not self.times or math.isnan(found.origin.profiled):
            return said
        seen = difference(self.times, found.origin.profiled)
        unit = " s" if self.metric.pattern is None else ""
        if len(self.times) < LEAST_RUNS:
            against = _(
                "Without the recorder the program takes {as_is} (median of {count}), with it {profiled}: {change}."
            )
        elif seen.matters:
            against = _(
                "Warning: without the recorder the program takes {as_is} (median of {count}), with it "
                "{profiled}: {change}, more than noise. The profile may mislead."
            )
        else:
            against = _(
                "Without the recorder the program takes {as_is} (median of {count}), with it {profiled}: {change}, "
                "within noise."
            )
        said.append(
            against.format(
                as_is=f"{seen.as_is:.4g}{unit}",
                count=len(self.times),
                profiled=f"{seen.profiled:.4g}{unit}",
                change=signed_percent(seen.ratio),
            )
        )
        if len(self.times) < LEAST_RUNS:
            few = _("Too few runs to estimate the noise; use --as-is {least_runs} or more.")
            return [*said, few.format(least_runs=LEAST_RUNS)]
        if not seen.matters:
            return said
        functions = costly(found) if seen.ratio > 0 else []
        if functions:
            path = self.output.with_suffix(".filter")
            write(path, filter_text(functions))
            names = ", ".join(one.function for one in functions[:4])
            said.append(
                _(
                    "Recording many short calls costs the most: {names} (about {seconds:.3g} s). Profile again "
                    "without them: unisono profile --filter {path} -- ..."
                ).format(names=names, seconds=sum(one.seconds for one in functions), path=path)
            )
        elif found.origin.split_waiting:
            said.append(_("--split-waiting adds a barrier to every collective. To compare times, profile without it."))
        else:
            said.append(
                _(
                    "The cost of recording the calls does not explain this difference. More runs (--as-is 9) estimate "
                    "the noise better."
                )
            )
        return said


def _estimate(share: float, found: Profile) -> str:
    if math.isnan(share):
        return _("What recording cost is not known.")
    calls = int(found.mpi_rows["calls"].sum())
    if share >= _WORTH_SAYING:
        cost = _(
            "Recording {calls} calls at {each:.0f} ns each cost about {share} of the time of the rank "
            "that made the most."
        )
    else:
        cost = _(
            "Recording {calls} calls at {each:.0f} ns each cost below {share} of the time of the rank "
            "that made the most."
        )
    return cost.format(calls=f"{calls:,}", each=found.origin.overhead_ns, share=percent(max(share, _WORTH_SAYING)))


class _Stdin:
    """Our stdin for several runs: a file from its beginning each time, anything else for the recorded run alone."""

    def __init__(self) -> None:
        try:
            self._is_file = stat.S_ISREG(os.fstat(0).st_mode)
            self._start = os.lseek(0, 0, os.SEEK_CUR) if self._is_file else 0
        except OSError:
            self._is_file = False

    def again(self, is_recorded: bool) -> int | None:
        """What subprocess takes as stdin."""
        if self._is_file:
            os.lseek(0, self._start, os.SEEK_SET)
            return None
        return None if is_recorded or os.isatty(0) else subprocess.DEVNULL
