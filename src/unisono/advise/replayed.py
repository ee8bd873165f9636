"""The hot calls as the program makes them: with cold buffers and caches, with ranks that come late, replayed.

A profile does not tell what a program does to the caches between two calls, so the benchmark's call is measured with
warm and with cold ones, and what comes nearest to the program's time tells. How late ranks come the profile tells,
where waiting was told apart: as much as each rank waited, on average, each rank comes before the last.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from unisono.advise.evidence import Evidence
from unisono.advise.gaps import chosen_sizes, spoken
from unisono.advise.kinds import COLLECTIVE, EXCHANGE
from unisono.advise.measuring import adjusted, study_for
from unisono.advise.mix import Mix, Spot
from unisono.advise.predict import best_source
from unisono.core.language import N_, _, translated
from unisono.core.vocabulary import CALL_SCOPE, DEFAULT, USUAL, Case, Condition, Sample
from unisono.machine.description import Machine
from unisono.measure.steady import Steady
from unisono.study.begin import begin, resume
from unisono.study.config import Measure
from unisono.study.engine import Engine, Item, Task
from unisono.study.matrix import Matrix
from unisono.study.store import Store

WORTH = 0.02
"""Of the program's time: calls that take less are not replayed."""
MOST_CASES = 4
MOST_SIZES = 3
"""Of a case, those that take the most time."""
LAUNCHES = 3
FAR = 3.0
"""So many times the benchmark's time is more than what programs and benchmarks differ by anyway."""
NEARER = 1.25
"""By so much must cold calls come nearer to the program's time than warm ones to be taken for what it does."""
SWEPT = 64 << 20
"""Bytes: emptying a cache larger than this before every call would take too long to compare many settings."""
_LATEST = 1.0
"""Seconds: a rank is not waited for any longer than this."""
_FAR_APART, _APART = 20.0, 1e-3
"""So many times what a call takes, or so many seconds, whichever is more: ranks that come later than that find the
others no different, and to compare many settings nobody waits longer."""
_BARRIER = 0.05
"""Of what the others wait: the rank that always comes last spends as much in the barrier by which waiting is told."""
_PATIENCE = 1.0
_MEASURE = Measure(seconds=0.01, min_repetitions=4, max_repetitions=100)


@dataclass(frozen=True, slots=True)
class Subject:
    """What is replayed of one case."""

    case: Case
    sizes: tuple[int, ...]
    arrival: Condition
    """How its ranks come; USUAL where that is not known."""
    cold: tuple[str, ...] = ("buffers", "caches")

    @property
    def conditions(self) -> tuple[Condition, ...]:
        late = (self.arrival,) if self.arrival.comes_late else ()
        return (USUAL, *map(Condition, self.cold), *late)


@dataclass(frozen=True)
class Replays:
    """What was measured; seconds, medians over launches."""

    calls: Mapping[tuple[Case, int, Condition], float] = field(default_factory=dict)
    """Of a call, from when the last rank comes."""
    inside: Mapping[tuple[Case, int, Condition], float] = field(default_factory=dict)
    """That a rank spends in a call on average, waiting included."""

    machine: Machine | None = None

    def call(self, spot: Spot, condition: Condition) -> float:
        """Of a spot's calls, those that were replayed; NaN where none was."""
        return self._mean(self.calls, spot, condition)

    def within(self, spot: Spot, condition: Condition) -> float:
        return self._mean(self.inside, spot, condition)

    def program(self, spot: Spot) -> tuple[float, float]:
        """Of the same calls in the program: without waiting, and the waiting; NaN where nothing was replayed."""
        uses = [use for use in spot.uses if use.calls > 0 and self._key(spot, use.size, USUAL) in self.calls]
        calls = sum(use.calls for use in uses)
        if not calls:
            return math.nan, math.nan
        waiting = math.fsum(use.waiting for use in uses) / calls
        return math.fsum(use.time for use in uses) / calls - waiting, waiting

    def _mean(self, values: Mapping[tuple[Case, int, Condition], float], spot: Spot, condition: Condition) -> float:
        found = [(use.calls, values.get(self._key(spot, use.size, condition), math.nan)) for use in spot.uses]
        known = [(calls, value) for calls, value in found if calls > 0 and not math.isnan(value)]
        calls = sum(calls for calls, _ in known)
        return math.fsum(calls * value for calls, value in known) / calls if calls else math.nan

    @staticmethod
    def _key(spot: Spot, size: int, condition: Condition) -> tuple[Case, int, Condition]:
        assert spot.case is not None
        return spot.case, adjusted({spot.case: (size,)})[spot.case][0], condition


def subjects(mix: Mix, worth: float = WORTH) -> list[Subject]:
    """The cases whose calls are worth a replay, most time first: blocking collectives of which waiting is known."""
    times: dict[Case, float] = defaultdict(float)
    weights: dict[Case, dict[int, float]] = {}
    first: dict[Case, Spot] = {}
    for spot in mix.spots:
        if spot.kind != COLLECTIVE or spot.case is None or spot.case.ranks < 2 or math.isnan(spot.waiting):
            continue
        times[spot.case] += spot.time
        first.setdefault(spot.case, spot)
        sizes = weights.setdefault(spot.case, {})
        for use in spot.uses:
            if use.size >= 0 and use.calls > 0:
                sizes[use.size] = sizes.get(use.size, 0.0) + use.time
    hot = sorted(
        (case for case in weights if weights[case] and mix.share(times[case]) >= worth), key=lambda c: -times[c]
    )
    return [
        Subject(case, adjusted({case: _largest(weights[case])})[case], arrival(first[case].waits, case.ranks))
        for case in hot[:MOST_CASES]
    ]


def _largest(weights: Mapping[int, float]) -> tuple[int, ...]:
    kept = sorted(weights, key=lambda size: -weights[size])[:MOST_SIZES]
    return chosen_sizes({size: weights[size] for size in kept})


def arrival(waits: Sequence[float], ranks: int) -> Condition:
    """How `ranks` ranks come that wait so long in a call on average (neighbours share a number): the less a rank waits,
    the later it always comes, and one that is drawn anew each time comes later still, so that even the one that waits
    least waits as long as it does."""
    if not waits or max(waits) <= 0:
        return USUAL
    least = min(waits) if min(waits) > _BARRIER * max(waits) else 0.0
    late = [max(waits) - each for each in waits] if max(waits) > 1.1 * min(waits) else [0.0 for _rank in waits]
    return Condition(late=tuple(map(_rounded, late)) if any(late) else (), drawn=_rounded(_drawn(late, least, ranks)))


def _drawn(late: Sequence[float], least: float, ranks: int) -> float:
    """How much later the drawn rank comes if the one that always comes last waits `least`, on average."""
    last = max(late)

    def waits(drawn: float) -> float:
        return math.fsum(max(last, each + drawn) for each in late) / len(late) - last - drawn / ranks

    low, high = 0.0, last + 2 * least * ranks
    for _step in range(60):  # waits() never falls
        middle = (low + high) / 2
        low, high = (middle, high) if waits(middle) < least else (low, middle)
    return high if least > 0 else 0.0


def _rounded(seconds: float) -> float:
    """To two digits: no profile knows more, and the next one of the same program says the same."""
    return float(f"{min(max(seconds, 0.0), _LATEST):.1e}") if seconds >= 1e-8 else 0.0


def missing(wanted: Sequence[Subject], known: Replays) -> list[Subject]:
    """What of it nobody replayed yet."""
    return [
        subject
        for subject in wanted
        if any((subject.case, size, c) not in known.calls for size in subject.sizes for c in subject.conditions)
    ]


def replaying(wanted: Sequence[Subject]) -> str:
    """What is about to happen, a line."""
    said = _("Replaying with cold buffers and caches: {cases}")
    if any(subject.arrival.comes_late for subject in wanted):
        said = _("Replaying with cold buffers and caches and late ranks: {cases}")
    return said.format(cases="; ".join(translated(str(subject.case)) for subject in wanted))


def replay(
    path: Path,
    wanted: Sequence[Subject],
    machine: Machine,
    program: Path,
    budget: float,
    launches: int = LAUNCHES,
) -> None:
    """Measures them into the study at `path`, going on with one that is there, for about `budget` seconds, in so
    many `launches`. `program` is unisono-bench. Raises UserError as `begin` and `resume` do."""
    study = study_for({subject.case: subject.sizes for subject in wanted}, machine)
    if path.exists():
        opened = resume(path, machine, asked=None, force=False)
    else:
        opened = begin(path, study, machine, Matrix((), (), CALL_SCOPE))
    with opened as store:
        first = max((launch.round for launch in store.launches()), default=0)
        engine = Engine(
            store,
            machine,
            program,
            scope=(),
            measure=_MEASURE,
            oversubscribe=study.cases.oversubscribe,
            budget=budget,
            limits=False,
            steady=Steady(patience=_PATIENCE),  # what is looked for is far larger than what a state makes of it
        )
        for round in range(first + 1, first + 1 + launches):
            for nodes, ppn in dict.fromkeys((s.case.nodes, s.case.ppn) for s in wanted):
                items = [
                    Item(s.case, size, (DEFAULT,), condition)
                    for s in wanted
                    if (s.case.nodes, s.case.ppn) == (nodes, ppn)
                    for size in s.sizes
                    for condition in s.conditions
                ]
                engine.run(Task(DEFAULT, nodes, ppn, round, tuple(items)))


def replays(paths: Sequence[Path]) -> Replays:
    """What these studies hold. Raises UserError for one that cannot be read."""
    calls: dict[tuple[Case, int, Condition], list[float]] = defaultdict(list)
    inside: dict[tuple[Case, int, Condition], list[float]] = defaultdict(list)
    machine: Machine | None = None
    for path in paths:
        with Store.open(path) as store:
            machine = store.machine
            for sample in store.samples():
                _add(sample, calls, inside)
    return Replays(
        {key: statistics.median(values) for key, values in calls.items()},
        {key: statistics.median(values) for key, values in inside.items()},
        machine,
    )


def _add(
    sample: Sample,
    calls: dict[tuple[Case, int, Condition], list[float]],
    inside: dict[tuple[Case, int, Condition], list[float]],
) -> None:
    key = sample.case, sample.size, sample.condition
    if sample.setting == DEFAULT and sample.correct is not False and sample.median > 0:
        calls[key].append(sample.median)
        if sample.inside:
            inside[key].append(sample.inside)


def cold_of(spot: Spot, known: Replays) -> str:
    """Which of Condition.cold comes nearest to the program's time without waiting; "" unless another is clearly nearer
    than warm calls. Cold calls are all slow: where the fastest is nearer to warm ones, single calls were disturbed.
    Where the fastest is not known, calls must take far longer than warm ones."""
    call, _ = known.program(spot)
    times = {cold: known.call(spot, Condition(cold)) for cold in ("", "buffers", "caches")}
    if math.isnan(call) or call <= 0 or math.isnan(times[""]):
        return ""
    off = {cold: abs(math.log(call / time)) for cold, time in times.items() if time > 0}
    nearest = min(off, key=lambda cold: off[cold])
    if not nearest or off[nearest] + math.log(NEARER) >= off[""]:
        return ""
    if len(spot.uses) > 1 or math.isnan(spot.fastest):
        return nearest if call >= FAR * times[""] else ""
    return nearest if spot.fastest**2 > times[""] * times[nearest] else ""


def matching(mix: Mix, known: Replays) -> dict[Case, Condition]:
    """Under which condition each case's calls are most like the program's; the usual is left out. That of the spot that
    takes the most time counts. Settings are compared under it, for which emptying large caches before every call would
    take too long: cold buffers stand for that."""
    found: dict[Case, Condition] = {}
    for spot in mix.spots:
        if spot.kind != COLLECTIVE or spot.case is None or spot.case in found or math.isnan(known.program(spot)[0]):
            continue
        cold = cold_of(spot, known)
        if cold == "caches" and known.machine is not None and swept(known.machine, spot.case.ppn) > SWEPT:
            cold = "buffers"
        late = arrival(spot.waits, spot.case.ranks)
        waits = known.program(spot)[1]
        # Ranks that come less apart than a call takes come together.
        usual = known.call(spot, USUAL)
        comes = _near(late, max(_FAR_APART * usual, _APART)) if waits >= usual else USUAL
        found[spot.case] = Condition(cold, comes.late, comes.drawn)
    return {case: condition for case, condition in found.items() if condition != USUAL}


def _near(condition: Condition, most: float) -> Condition:
    """With nobody later than so many seconds."""
    late = tuple(_rounded(min(each, most)) for each in condition.late)
    return Condition(late=late, drawn=_rounded(min(condition.drawn, most)))


def swept(machine: Machine, ppn: int) -> int:
    """Bytes a rank reads to empty its share of the last-level cache."""
    last = max(machine.caches, key=lambda cache: cache.level, default=None)
    return 2 * last.bytes // max(1, min(ppn, last.shared_by)) if last is not None else 0


def condition_notes(mix: Mix, evidences: Sequence[Evidence]) -> list[str]:
    """Under which conditions what is predicted was measured, case by case, where they are not the usual."""
    notes = []
    for case, condition in mix.conditions.items():
        source = best_source(case, mix, evidences)
        if source is not None and source.condition(case) == condition:
            notes.append(
                N_("{case}: predicted from calls measured with {condition}, as the program has them").format(
                    case=case, condition=spoken(condition)
                )
            )
        elif source is not None and case.collective == EXCHANGE:
            notes.append(
                N_(
                    "{case}: measured were messages between other partners and of other sizes than the program's"
                ).format(case=case)
            )
        elif source is not None:
            notes.append(
                N_("{case}: predicted from calls measured with {condition}, though the program has {own}").format(
                    case=case, condition=spoken(source.condition(case)), own=spoken(condition)
                )
            )
    return notes
