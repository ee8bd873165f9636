"""The program's calls against the benchmark's: where they take far longer, and which reasons the profile leaves.

A benchmark calls a collective again and again, all ranks at once, with buffers that stay in the caches. A program's
calls of the same size can take a hundred times as long, and what a setting gained in the benchmark then says little.
Where the program's conditions were replayed (advise.replayed), what they make of the benchmark's call is the answer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from unisono.advise.evidence import Evidence, Now
from unisono.advise.kinds import COLLECTIVE, MESSAGES
from unisono.advise.mix import Mix, Spot
from unisono.advise.predict import best_source, outside
from unisono.advise.replayed import FAR, Replays, arrival, cold_of
from unisono.core.display import seconds
from unisono.core.language import N_, _, joined
from unisono.core.vocabulary import USUAL, Condition

ALIKE = 2.0
"""Times that differ by less than this factor are the same, where one of them is a program's."""
WORTH = 0.02
"""Of the program's time: calls that take less are not worth a sentence."""
FEW = 20
"""So few calls a rank are much of them first ones: connections are set up, fresh memory is touched."""
_LARGE = 4096
"""Bytes: fetching fewer takes as long as reaching the memory at all."""
_LINE = 64
_MISS = 200e-9
"""Seconds for a cache line from a busy memory, one after the other: no memory in use today is slower."""
_PER_PEER = frozenset({"allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw"})
"""Their message size counts once for every rank."""


@dataclass(frozen=True, slots=True)
class Against:
    """One hot spot whose calls take far longer than the benchmark's."""

    spot: Spot
    call: float
    """Seconds of one call on average, without waiting where that was measured."""
    benchmark: float
    """Seconds of the benchmark's, as the program runs now, for the same message sizes."""
    likely: tuple[str, ...]
    excluded: tuple[str, ...]
    """Reasons that the profile speaks against, and how."""
    tested: str = ""
    """What replaying the program's conditions showed, a sentence; "" where they were not."""
    explained: bool = False
    """By what was replayed."""

    @property
    def sentence(self) -> str:
        said = _(
            "{call} takes {time} a call without waiting, but the benchmark takes {benchmark} for the same call: "
            "a setting that is faster in the benchmark need not be faster here."
        )
        if math.isnan(self.spot.waiting):
            said = _(
                "{call} takes {time} a call, but the benchmark takes {benchmark} for the same call: a setting "
                "that is faster in the benchmark need not be faster here."
            )
        out = [said.format(call=self.spot.name, time=seconds(self.call), benchmark=seconds(self.benchmark))]
        if self.tested:
            out.append(self.tested)
        if self.likely and not self.explained:
            out.append(_("Possible: {reasons}.").format(reasons="; ".join(self.likely)))
        if self.excluded and not self.explained:
            out.append(_("Not the reason: {reasons}.").format(reasons="; ".join(self.excluded)))
        return " ".join(out)

    def as_dict(self) -> dict[str, Any]:
        fields = asdict(self)
        return {**fields, "spot": self.spot.name, "likely": list(self.likely), "excluded": list(self.excluded)}


@dataclass(frozen=True, slots=True)
class Late:
    """One hot spot whose ranks wait far longer for the last than the call then takes; seconds of a call."""

    spot: Spot
    call: float
    """On average over the ranks, waiting included."""
    waiting: float
    together: float
    """The benchmark's, when all ranks come at once."""
    apart: float
    """The benchmark's, on average over the ranks, when they come as late as the program's."""
    after: float
    """What of that the slowest takes once the last has come."""

    @property
    def explained(self) -> bool:
        return _alike(self.call, self.apart)

    @property
    def sentence(self) -> str:
        answer = _("late arrival alone does not explain the program's {time}")
        if self.explained:
            answer = _(
                "the program's {time} come from ranks that arrive late, which is a matter of load balance and not of "
                "the MPI"
            )
        return _(
            "{call} takes {time} a call, {waiting} of it waiting for ranks that come late. In a benchmark on "
            "this machine the same call takes {together} when all ranks come at once. It takes {apart} when they "
            "come as late as in the program, {after} of it after the last rank has come: {answer}."
        ).format(
            call=self.spot.name,
            time=seconds(self.call),
            waiting=seconds(self.waiting),
            together=seconds(self.together),
            apart=seconds(self.apart),
            after=seconds(self.after),
            answer=answer.format(time=seconds(self.call)),
        )

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "spot": self.spot.name, "explained": self.explained}


def against(
    mix: Mix,
    evidences: Sequence[Evidence],
    now: Now = None,
    replayed: Replays | None = None,
    worth: float = WORTH,
) -> list[Against | Late]:
    """The hot spots that take far longer than the benchmark, most time first; collectives that a study measured or that
    were replayed, and point-to-point calls, each against a whole exchange of the benchmark's. Calls that take less than
    `worth` of the program's time are left out."""
    known = replayed or Replays()
    found: list[Against | Late] = []
    for spot in mix.spots:
        if spot.kind not in (COLLECTIVE, MESSAGES) or spot.case is None or spot.case.ranks < 2:
            continue
        if mix.share(spot.time) < worth:
            continue
        late = _late(spot, known)
        if late is not None:
            found.append(late)
        warm = [source for source in evidences if replace(source.condition(spot.case), partners=(), step=()) == USUAL]
        source = best_source(spot.case, mix, warm)
        call, benchmark = known.program(spot)[0], known.call(spot, USUAL)
        unknown = math.isnan(call) or math.isnan(benchmark)
        times = _times(spot, source, now) if unknown and source is not None else (call, benchmark)
        if times is None or not times[0] >= FAR * times[1]:
            continue
        tested, explained = replay_sentence(spot, known)
        likely, excluded = _reasons(spot, *times, replayed=bool(tested))
        found.append(Against(spot, *times, likely, excluded, tested, explained))
    return found


def _late(spot: Spot, known: Replays) -> Late | None:
    call, waiting = known.program(spot)
    assert spot.case is not None
    together, condition = known.call(spot, USUAL), arrival(spot.waits, spot.case.ranks)
    if not condition.comes_late or math.isnan(together) or waiting < FAR * max(together, call):
        return None
    apart, after = known.within(spot, condition), known.call(spot, condition)
    return None if math.isnan(apart) else Late(spot, call + waiting, waiting, together, apart, after)


_WITH = {
    "": N_("{time} with warm buffers"),
    "buffers": N_("{time} with cold ones"),
    "caches": N_("{time} with all caches emptied before it"),
}


def replay_sentence(spot: Spot, known: Replays) -> tuple[str, bool]:
    """What cold buffers and caches make of these calls, and whether that explains the program's time; "" where they
    were not replayed."""
    call, _waiting = known.program(spot)
    times = {cold: known.call(spot, Condition(cold)) for cold in _WITH}
    if math.isnan(call) or any(math.isnan(time) for time in times.values()):
        return "", False
    nearest = cold_of(spot, known)
    if not (nearest and _alike(call, times[nearest])) and (late := _after_late(spot, known)):
        return late, True
    told = [cold for cold in _WITH if cold in ("", nearest) or not nearest]
    parts = [_(_WITH[cold]).format(time=seconds(times[cold])) for cold in told]
    said = {"times": joined(parts), "time": seconds(call)}
    if nearest and _alike(call, times[nearest]):
        large = any(use.size >= _LARGE for use in spot.uses)
        cold = _("memory bandwidth") if large else _("memory, where its buffers are")
        why = cold if nearest == "buffers" else _("the caches, which it fills with something else")
        sentence = _("In a benchmark on this machine the same call takes {times}: the program's {time} are {why}.")
        if len(spot.uses) > 1 or math.isnan(spot.fastest):
            sentence = _(
                "In a benchmark on this machine the same call takes {times}: the program's {time} may be {why}."
            )
        return sentence.format(**said, why=why), True
    if nearest:
        return _(
            "In a benchmark on this machine the same call takes {times}: that explains a part of the program's {time}."
        ).format(**said), False
    return _(
        "In a benchmark on this machine the same call takes {times}: that does not explain the program's {time}."
    ).format(**said), False


def _times(spot: Spot, source: Evidence, now: Now) -> tuple[float, float] | None:
    """Seconds of a call here and in the benchmark, over the uses that it measured; None: nothing is known."""
    assert spot.case is not None
    sizes = source.sizes(spot.case)
    calls, here, there = 0, 0.0, 0.0
    for use in spot.uses:
        usual = source.seconds(spot.case, now, use.size) if use.size >= 0 and not outside(sizes, use.size) else math.nan
        if use.calls > 0 and not math.isnan(usual):
            calls += use.calls
            here += use.time - (0.0 if math.isnan(use.waiting) else use.waiting)
            there += use.calls * usual
    return (here / calls, there / calls) if calls and there > 0 else None


def _after_late(spot: Spot, known: Replays) -> str:
    """That late ranks alone slow the call itself down so much, a sentence; "" where they do not."""
    assert spot.case is not None
    condition, (call, _waiting) = arrival(spot.waits, spot.case.ranks), known.program(spot)
    together, after = known.call(spot, USUAL), known.call(spot, condition)
    if not condition.comes_late or not after >= FAR * together or not _alike(call, after):
        return ""
    return _(
        "In a benchmark on this machine the same call takes {together} when all ranks come at once, and {after} "
        "after the last rank has come when they come as late as in the program: late ranks explain the program's "
        "{time}, too."
    ).format(together=seconds(together), after=seconds(after), time=seconds(call))


def _alike(one: float, other: float) -> bool:
    return 1 / ALIKE <= one / other <= ALIKE


def _reasons(
    spot: Spot, call: float, benchmark: float, replayed: bool = False
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Those that may be it, and those that the profile speaks against. `replayed`: cold buffers were tested."""
    likely, excluded = [], []
    if math.isnan(spot.waiting):
        # The rank that comes last waits for nobody: what it takes is no late arrival.
        if spot.evenness * call < FAR * benchmark:
            likely.append(
                _("ranks that arrive late (the rank with the least time in it takes {evenness})").format(
                    evenness=seconds(spot.evenness * call)
                )
            )
        else:
            likely.append(_("ranks that arrive late (unisono profile --split-waiting tells)"))
    else:
        excluded.append(_("late arrival (waiting is taken off)"))
    alike = len(spot.uses) == 1 and not math.isnan(spot.fastest)
    if alike and spot.fastest < FAR * benchmark:
        likely.append(
            _("a few calls that something disturbed (the fastest call takes {fastest})").format(
                fastest=seconds(spot.fastest)
            )
        )
    elif alike:
        excluded.append(
            _("a few disturbed calls (the fastest call takes {fastest})").format(fastest=seconds(spot.fastest))
        )
    else:
        likely.append(_("a few calls that something disturbed (the profile does not tell for these)"))
    if spot.calls <= FEW:
        likely.append(
            _("first calls, which set up connections and touch fresh memory (there are {calls:.0f} a rank)").format(
                calls=spot.calls
            )
        )
    most = max(_memory(spot, use.size) for use in spot.uses)
    if replayed:
        pass
    elif benchmark + most >= call / 2 and spot.kind == MESSAGES:
        likely.append(_("cold buffers, or memory that all ranks use at once (of messages that is not replayed)"))
    elif benchmark + most >= call / 2:
        likely.append(_("cold buffers, or memory that all ranks use at once (unisono advise --measure replays that)"))
    else:
        excluded.append(_("cold buffers or memory (at most {most} for so many bytes)").format(most=seconds(most)))
    if any(use.size > 0 for use in spot.uses):
        likely.append(_("derived datatypes (the profile does not record them: look at the call in the source)"))
    return tuple(likely), tuple(excluded)


def _memory(spot: Spot, size: int) -> float:
    """Seconds that fetching what is sent and received from memory takes at most."""
    assert spot.case is not None
    lines = math.ceil(max(size, 0) / _LINE) * (spot.case.ranks if spot.case.collective in _PER_PEER else 1)
    return 2 * lines * _MISS
