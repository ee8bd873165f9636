"""Runs of a user's program, and what a verification of them says."""

from __future__ import annotations

import re
import statistics
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from unisono.advise.paired import LEAST_PAIRS, ratio_interval, trimmed_mean, verdict
from unisono.core.display import percent_range
from unisono.core.errors import LaunchError, UserError
from unisono.core.interval import Interval
from unisono.core.language import N_, _, translated
from unisono.launch.process import Finished

UNTOLD = 1.5
"""An interval whose ends are so many times apart says nothing about a program, not even that nothing changed."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the program. `value` is the metric, or wall time; None when it failed."""

    pair: int
    tuned: bool
    status: str
    """"done", "hung", "crashed", "refused" or "no metric"."""
    reason: str
    value: float | None
    seconds: float
    """Wall time, start of mpirun to its end."""


class Metric:
    """A regular expression with one group that finds a number in the program's output; None: wall time.

    Raises UserError for a pattern that is not one or does not have exactly one group.
    """

    def __init__(self, pattern: str | None) -> None:
        self.pattern = pattern
        try:
            self._regex = re.compile(pattern, re.MULTILINE) if pattern is not None else None
        except re.error as error:
            raise UserError(
                _("metric: {pattern!r} is not a regular expression: {error}").format(pattern=pattern, error=error)
            ) from error
        if self._regex is not None and self._regex.groups != 1:
            raise UserError(
                _(
                    "metric: {pattern!r} has {groups} groups; put exactly the number into parentheses, for "
                    "example 'Time in seconds = *([0-9.]+)'"
                ).format(pattern=pattern, groups=self._regex.groups)
            )

    @property
    def name(self) -> str:
        return self.pattern if self.pattern is not None else N_("wall time")

    def of(self, finished: Finished) -> float:
        """The figure of a run: wall time, or what the pattern finds. Raises LaunchError "no metric" where it finds
        nothing, UserError as `find`."""
        if self._regex is None:
            return finished.seconds
        value = self.find(f"{finished.stdout}\n{finished.stderr}")
        if value is None:
            raise LaunchError(
                N_("no metric"), N_("{pattern!r} matches nothing in the program's output").format(pattern=self.pattern)
            )
        return value

    def find(self, output: str) -> float | None:
        """The number of the last match, which must be above 0; None when there is none. UserError: not a number."""
        assert self._regex is not None
        found = list(self._regex.finditer(output))
        if not found:
            return None
        text = found[-1][1] or ""
        try:
            value = float(text.replace(",", ""))
        except ValueError:
            raise UserError(
                _("metric: {pattern!r} found {text!r}, which is not a number").format(pattern=self.pattern, text=text)
            ) from None
        if not 0 < value < float("inf"):
            raise UserError(
                _("metric: {pattern!r} found {text}; a time above 0 is needed").format(pattern=self.pattern, text=text)
            )
        return value


@dataclass(frozen=True)
class Verification:
    """As-is against tuned for one program: raw values and what follows from them. Times in seconds."""

    metric: str
    as_is_command: str
    tuned_command: str
    setting: Mapping[str, str]
    runs: tuple[Run, ...]
    confidence: float
    notes: tuple[str, ...]

    def values(self, *, tuned: bool) -> list[float]:
        """Of the pairs of which both runs were done, in their order."""
        return [side[tuned] for side in self._pairs]

    @cached_property
    def _pairs(self) -> list[dict[bool, float]]:
        found: dict[int, dict[bool, float]] = {}
        for run in self.runs:
            if run.value is not None:
                found.setdefault(run.pair, {})[run.tuned] = run.value
        return [found[pair] for pair in sorted(found) if len(found[pair]) == 2]

    @property
    def failures(self) -> list[Run]:
        return [run for run in self.runs if run.status != "done"]

    @cached_property
    def gain(self) -> Interval | None:
        """as-is / tuned; None with fewer than three complete pairs."""
        if len(self._pairs) < LEAST_PAIRS:
            return None
        return ratio_interval(self.values(tuned=False), self.values(tuned=True), self.confidence)

    @property
    def improvement(self) -> float | None:
        """`gain` less 1, as Oracle's guides state it: 32.6 s against 29.1 s are 0.12."""
        return None if self.gain is None else self.gain.mid - 1

    @property
    def verdict(self) -> str:
        """ "faster", "no difference", "slower", or "fails": too few pairs of runs were done."""
        return "fails" if self.gain is None else verdict(self.gain)

    @property
    def told(self) -> bool:
        """Whether the runs say anything: a wide interval around 1 does not even say that nothing changed."""
        return self.gain is not None and (self.verdict != "no difference" or self.gain.high <= UNTOLD * self.gain.low)

    @property
    def exit_status(self) -> int:
        """0: not slower. 1: slower, or only the tuned program fails. 2: the program fails as it is. 3: not told."""
        if self.gain is None:
            return 2 if any(not run.tuned for run in self.failures) else 1
        return 1 if self.verdict == "slower" else 0 if self.told else 3

    def as_dict(self) -> dict[str, Any]:
        return {
            "metric": self.metric,
            "verdict": self.verdict,
            "told": self.told,
            "improvement": self.improvement,
            "gain": asdict(self.gain) if self.gain else None,
            "confidence": self.confidence,
            "pairs": len(self._pairs),
            "as_is": self._side(tuned=False),
            "tuned": self._side(tuned=True),
            "setting": dict(self.setting),
            "as_is_command": self.as_is_command,
            "tuned_command": self.tuned_command,
            "runs": [asdict(run) for run in self.runs],
            "notes": list(self.notes),
        }

    def _side(self, *, tuned: bool) -> dict[str, Any]:
        values = self.values(tuned=tuned)
        enough = len(values) >= LEAST_PAIRS
        return {
            "values": values,
            "trimmed_mean": trimmed_mean(values) if enough else None,
            "median": statistics.median(values) if values else None,
        }

    def render(self) -> Group:
        """For a terminal."""
        table = Table(
            title=_("{metric}, {count} pairs of runs").format(metric=translated(self.metric), count=len(self._pairs)),
            title_justify="left",
        )
        table.add_column()
        table.add_column(_("median"), justify="right", overflow="fold")
        table.add_column(_("each run"), overflow="fold")
        for name, tuned in ((_("as it is"), False), (_("tuned"), True)):
            side = self._side(tuned=tuned)
            table.add_row(name, _seconds(side["median"]), "  ".join(map(_seconds, side["values"])))
        lines = [
            Text(
                (_("tuned run {status}: {reason}") if run.tuned else _("run as it is {status}: {reason}")).format(
                    status=translated(run.status), reason=translated(run.reason)
                )
            )
            for run in self.failures
        ]
        return Group(table, *lines, Text(self.sentence(), style="bold"))

    def sentence(self) -> str:
        """The verdict in one sentence."""
        if self.gain is None or self.improvement is None:
            return (
                _("The program fails as it is: only {count} pairs of runs were done; {least} are needed.")
                if self.exit_status == 2
                else _("The tuned program fails: only {count} pairs of runs were done; {least} are needed.")
            ).format(count=len(self._pairs), least=LEAST_PAIRS)
        if not self.told:
            return _(
                "No answer: runs of the same command differ too much for {count} pairs of runs to show anything; "
                "as it is / tuned is {low:.3g} to {high:.3g}, with {confidence:.0%} confidence. Use more --runs, or "
                "a quieter machine."
            ).format(count=len(self._pairs), low=self.gain.low, high=self.gain.high, confidence=self.confidence)
        said = _(
            "{verdict}: as it is / tuned is {mid:.3f} ({low:.3f} to {high:.3f} with {confidence:.0%} confidence) over "
            "{count} pairs of runs"
        ).format(
            verdict={"faster": _("Faster"), "slower": _("Slower")}.get(self.verdict, _("No difference shown")),
            **asdict(self.gain),
            confidence=self.confidence,
            count=len(self._pairs),
        )
        if self.verdict != "faster":
            return _("{clauses}.").format(clauses=said)
        # As advise predicts it, so that the two can be compared.
        saved = Interval(*(1 - 1 / end for end in (self.gain.mid, self.gain.low, self.gain.high)))
        return _("{clauses}; the tuned runs save {saving} of the time.").format(
            clauses=said, saving=percent_range(saved)
        )


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g} s"
