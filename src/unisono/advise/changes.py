"""Which calls changed between two states of a program: its profiles as it was against those with a tuning.

A setting acts on calls nobody looked at, and waiting moves: in Oracle's profiling guide MPI_Reduce lost 553 s by
no change of its own. So every call is compared, and what changed without being tuned is called a side effect.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from unisono.advise.paired import orders
from unisono.cmdline.command import Command
from unisono.core.display import percent, seconds
from unisono.core.errors import UserError
from unisono.core.interval import Interval
from unisono.core.language import _
from unisono.profile.hot import hot_spots
from unisono.profile.recorded import Profile
from unisono.profile.sites import sites
from unisono.profile.words import Callers

LEAST_SHARE = 0.005
"""A change is worth naming from this part of the program's time on."""
LEAST_CHANGE = 0.1
"""With one profile a side nothing tells how calls vary from run to run: only a change beyond this part counts."""
SHOWN = 10

Key = tuple[str, tuple[str, ...], int, int, str]
"""Function, callers, ranks and nodes of the communicator, phase: what stays the same from run to run."""


@dataclass(frozen=True, slots=True)
class CallChange:
    """One call, before and after; seconds of all ranks together: median, least and most over the runs."""

    function: str
    where: str
    before: Interval
    after: Interval
    waiting_before: float
    """Median; NaN where not measured."""
    waiting_after: float
    share: float
    """(after - before) / the program's time before."""
    changed: bool
    """Beyond what runs differ by, and worth naming."""
    side_effect: bool
    """It changed though the tuning has no measurement of it, or because its waiting did."""

    @property
    def name(self) -> str:
        name = self.function.removeprefix("MPI_")
        return _("{function} from {caller}").format(function=name, caller=self.where) if self.where else name

    @property
    def sentence(self) -> str:
        """Without the stop at its end."""
        said = _("{call}: {before} before, {after} after")
        if self.side_effect:
            said = _("{call}: {before} before, {after} after, a side effect")
        return said.format(call=self.name, before=seconds(self.before.mid), after=seconds(self.after.mid))


@dataclass(frozen=True)
class Changes:
    """All calls, those that changed most first. Times in seconds, all ranks together."""

    calls: tuple[CallChange, ...]
    total_before: float
    total_after: float
    runs: tuple[int, int]
    inside: tuple[float, float] = (0.0, 0.0)
    """From MPI_Init to MPI_Finalize on the slowest rank, before and after: medians over the runs."""

    @property
    def changed(self) -> list[CallChange]:
        return [call for call in self.calls if call.changed]

    def as_dict(self) -> dict[str, Any]:
        return {
            "calls": [
                {
                    **asdict(call),
                    "waiting_before": _number(call.waiting_before),
                    "waiting_after": _number(call.waiting_after),
                }
                for call in self.calls
            ],
            "total_before": self.total_before,
            "total_after": self.total_after,
            "runs": list(self.runs),
            "inside": list(self.inside),
        }

    def outside_sentence(self, gain: float) -> str:
        """Where a gain of so many seconds of wall time, mpirun included, comes from; "" where half of it or more is the
        program's own, and where nothing was gained."""
        before, after = self.inside
        if gain <= 0 or before <= 0 or before - after >= gain / 2:
            return ""
        times = {"before": seconds(before), "after": seconds(after)}
        times |= {"calls_before": seconds(math.fsum(call.before.mid for call in self.calls))}
        times |= {"calls_after": seconds(math.fsum(call.after.mid for call in self.calls))}
        said = _(
            "{share} of this gain is in starting and ending the processes. From MPI_Init to MPI_Finalize the "
            "program takes {before} before and {after} after; its MPI calls take {calls_before} before and "
            "{calls_after} after, all ranks together. A longer run gains no more seconds than a short one. Use "
            "--metric to compare a time that the program itself prints."
        )
        return said.format(share=percent(min(1.0, 1 - (before - after) / gain)), **times)

    def sentences(self) -> list[str]:
        """What changed, a sentence each; that nothing did; that one run on a side is not enough to know."""
        whole = _("All ranks together: {before} before, {after} after.").format(
            before=seconds(self.total_before), after=seconds(self.total_after)
        )
        found = [_("{clauses}.").format(clauses=call.sentence) for call in self.changed]
        if min(self.runs) == 1:
            found.append(
                _(
                    "Only one run was profiled before and one after, so it is not known how much single runs differ by "
                    "chance."
                )
            )
            return [whole, *found]
        return [whole, *(found or [_("No call changed by more than the difference between runs of the same command.")])]

    def render(self) -> Group:
        """For a terminal."""
        table = Table(title=_("Calls before and after, all ranks together"), title_justify="left")
        table.add_column(_("call"), overflow="fold")
        for name in (_("before"), _("after"), _("change of the whole"), _("waiting before"), _("waiting after"), ""):
            table.add_column(name, justify="left" if not name else "right")
        for call in self.calls[:SHOWN]:
            table.add_row(
                Text(call.name),
                seconds(call.before.mid),
                seconds(call.after.mid),
                f"{100 * call.share:+.1f} %",
                "" if math.isnan(call.waiting_before) else seconds(call.waiting_before),
                "" if math.isnan(call.waiting_after) else seconds(call.waiting_after),
                _remark(call),
                style="bold" if call.changed else "",
            )
        return Group(table, *(Text(line) for line in self.sentences()))


def changes(before: Sequence[Profile], after: Sequence[Profile], tuned: Collection[str] = ()) -> Changes:
    """The calls of some runs before against those after, at least one each. `tuned`: the collectives the tuning was
    measured for; a change of another call is a side effect. Raises UserError without a profile on either side."""
    if not before or not after:
        raise UserError(
            _("to show changes, two profiles are needed: one of the program as it was and one with the tuning")
        )
    sides = [[_calls(profile) for profile in profiles] for profiles in (before, after)]
    keys = dict.fromkeys(key for side in sides for run in side for key in run)
    total_before, total_after = (
        statistics.median(float(profile.wall.sum()) for profile in side) for side in (before, after)
    )
    several = min(len(before), len(after)) > 1
    calls = [_change(key, sides, total_before, tuned, several) for key in keys]
    calls.sort(key=lambda call: -abs(call.share))
    inside = (
        statistics.median(float(profile.wall.max()) if len(profile.wall) else 0.0 for profile in side)
        for side in (before, after)
    )
    return Changes(tuple(calls), total_before, total_after, (len(before), len(after)), (next(inside), next(inside)))


@dataclass
class _Call:
    """One call in one run; seconds of all ranks together."""

    collective: str | None
    where: str
    time: float = 0.0
    waiting: float = 0.0
    """NaN where not measured."""


def _calls(profile: Profile) -> dict[Key, _Call]:
    """Call sites of one line are told apart by a run's addresses only, so they are taken together."""
    found: dict[Key, _Call] = {}
    spots = hot_spots(profile)
    callers = Callers(profile, spots)
    names = [callers.of(spot)[0] for spot in spots]
    differ = sites(
        profile, [((spot.function, name, spot.phase), spot.path) for name, spot in zip(names, spots, strict=True)]
    )
    for spot, name, site in zip(spots, names, differ, strict=True):
        comm = (spot.comm.size, spot.comm.nodes) if spot.comm is not None else (0, 0)
        frames = tuple(f"{frame.label} {frame.place}" for frame in spot.frames)
        where = f"{name} ({site})" if site else name
        where = _("{name} in {phase}").format(name=where, phase=spot.phase) if spot.phase else where
        call = found.setdefault((spot.function, frames, *comm, spot.phase), _Call(spot.measured, where))
        call.time += spot.time
        call.waiting += spot.waiting
    return found


def _change(
    key: Key, sides: Sequence[Sequence[dict[Key, _Call]]], total: float, tuned: Collection[str], several: bool
) -> CallChange:
    times = [[run[key].time if key in run else 0.0 for run in side] for side in sides]
    waits = [[run[key].waiting for run in side if key in run] for side in sides]
    was, now = (Interval(statistics.median(side), min(side), max(side)) for side in times)
    waiting_was, waiting_now = (statistics.median(side) if side else math.nan for side in waits)
    share = (now.mid - was.mid) / total if total > 0 else 0.0
    apart = now.high < was.low or now.low > was.high
    if not several:
        apart = abs(now.mid - was.mid) > LEAST_CHANGE * max(was.mid, now.mid)
    changed = apart and abs(share) >= LEAST_SHARE
    call = next(run[key] for side in sides for run in side if key in run)
    moved = waiting_now - waiting_was
    by_waiting = not math.isnan(moved) and abs(moved) > abs(now.mid - was.mid) / 2
    return CallChange(
        function=key[0],
        where=call.where,
        before=was,
        after=now,
        waiting_before=waiting_was,
        waiting_after=waiting_now,
        share=share,
        changed=changed,
        side_effect=changed and (call.collective not in tuned or by_waiting),
    )


def _remark(call: CallChange) -> str:
    if not call.changed:
        return ""
    if call.after.mid < call.before.mid:
        return _("faster, a side effect") if call.side_effect else _("faster")
    return _("slower, a side effect") if call.side_effect else _("slower")


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def profiled(
    as_is: Command,
    tuned: Command,
    record: Callable[[Command], Profile],
    runs: int,
    progress: Callable[[int, bool], None] = lambda pair, tuned: None,
) -> tuple[list[Profile], list[Profile]]:
    """Profiles of both lines, in turns, so that the machine's drift hits both. `progress` hears which run begins."""
    sides: dict[bool, list[Profile]] = {False: [], True: []}
    for pair, tuned_first in enumerate(orders(runs, seed=0)):
        for is_tuned in (tuned_first, not tuned_first):
            progress(pair, is_tuned)
            sides[is_tuned].append(record(tuned if is_tuned else as_is))
    return sides[False], sides[True]
