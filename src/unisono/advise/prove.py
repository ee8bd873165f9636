"""The proof of a tuning on the benchmark itself: default against tuned, on fresh launches taken in turns.

The tuned launches get what `unisono run` would give a program: the plan's words and the rules file, read by the MPI
itself. Nothing is switched inside a launch, so the whole chain is proven, not only the decision.
"""

from __future__ import annotations

import math
import os
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from unisono.advise.apply import Applied, apply_plan
from unisono.advise.paired import LEAST_PAIRS, orders, ratio_interval, verdict
from unisono.advise.same_bits import SameBits, same_bits
from unisono.cmdline.command import Command, command
from unisono.core import sums
from unisono.core.errors import LaunchError, UserError
from unisono.core.interval import Interval
from unisono.core.language import N_, _, translated
from unisono.core.sizes import format_size
from unisono.core.vocabulary import DEFAULT, USUAL, Condition, Level, Setting
from unisono.machine.description import Machine
from unisono.measure.session import Session, Timing
from unisono.measure.steady import Steady
from unisono.measure.succession import Succession
from unisono.tuning.choice import choose
from unisono.tuning.contents import Tuning
from unisono.tuning.plans import Plan, gain_words

_GIVE_UP = 2
"""Failed launches of one side after which a case is given up."""

Point = tuple[str, int]
"""Collective and message size."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A launch, or a measurement in it, that did not deliver."""

    nodes: int
    ppn: int
    pair: int
    tuned: bool
    status: str
    reason: str


@dataclass(frozen=True, slots=True)
class Step:
    """One launch of the proof, for a progress bar."""

    number: int
    total: int
    tuned: bool


@dataclass(frozen=True, slots=True)
class SizeProof:
    """One message size: seconds of every launch, pair by pair."""

    size: int
    gain: Interval
    as_is: tuple[float, ...]
    tuned: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class CaseProof:
    """One collective on one (nodes, ppn): as-is / tuned, geometric mean over its sizes, by pairs of launches."""

    collective: str
    nodes: int
    ppn: int
    gain: Interval
    launches: int
    """Of each side. 0: both are the same, since the plan sets nothing."""
    sizes: tuple[SizeProof, ...]
    wrong: tuple[int, ...] = ()
    """Sizes at which a tuned launch computed wrong results; they are not in the gain."""

    @property
    def verdict(self) -> str:
        """ "faster", "no difference", "slower", "wrong results" or "the default is kept"."""
        if self.wrong:
            return N_("wrong results")
        return N_("the default is kept") if self.launches == 0 else verdict(self.gain)


@dataclass(frozen=True)
class Proof:
    """The outcome for all cases of a tuning."""

    confidence: float
    cases: tuple[CaseProof, ...]
    failures: tuple[Failure, ...]
    commands: tuple[str, ...]
    """Default and tuned, case by case."""
    notes: tuple[str, ...]
    bits: tuple[SameBits, ...] = ()
    """Of reductions that are to be reproducible: whether they are."""
    reproducible: Level | None = None
    """The tuning's."""

    @property
    def exit_status(self) -> int:
        """1 when a collective is slower than the default or wrong, or nothing could be proven at all. A reproducible
        reduction may be slower, but not give other bits."""
        slower = any(
            case.verdict == "slower" and not sums.is_promised(case.collective, self.reproducible) for case in self.cases
        )
        wrong = any(case.verdict == "wrong results" for case in self.cases) or not all(one.same for one in self.bits)
        return 1 if slower or wrong or not self.cases else 0

    def as_dict(self) -> dict[str, Any]:
        return {
            "confidence": self.confidence,
            "cases": [{**asdict(case), "verdict": case.verdict} for case in self.cases],
            "failures": [asdict(failure) for failure in self.failures],
            "commands": list(self.commands),
            "notes": list(self.notes),
            **({"bits": [asdict(one) for one in self.bits]} if self.bits else {}),
        }

    def render(self) -> Group:
        """For a terminal, as `unisono show` shows it later."""
        table = Table(title=_("Proof: default against tuned, on fresh launches in turns"), title_justify="left")
        ratio, launches = _("default / tuned"), _("launches")
        for name in (_("collective"), _("ranks"), ratio, launches, _("verdict")):
            table.add_column(name, justify="right" if name in (ratio, launches) else "left")
        for case in self.cases:
            gain = case.gain
            style = {"faster": "green", "slower": "bold red", "wrong results": "bold red"}.get(case.verdict, "")
            if case.verdict == "slower" and sums.is_promised(case.collective, self.reproducible):
                style = "yellow"  # its price
            cells = (
                case.collective,
                f"{case.nodes} x {case.ppn}",
                gain_words(gain),
                _("{count} each").format(count=case.launches) if case.launches else "-",
                _(case.verdict),
            )
            table.add_row(*cells, style=style)
        lines = [
            (
                _("tuned launch on {nodes} x {ppn} ranks {status}: {reason}")
                if f.tuned
                else _("default launch on {nodes} x {ppn} ranks {status}: {reason}")
            ).format(nodes=f.nodes, ppn=f.ppn, status=translated(f.status), reason=translated(f.reason))
            for f in self.failures
        ]
        return Group(table, *(Text(line, style="yellow") for line in [*lines, *map(translated, self.notes)]))


@dataclass
class _Case:
    """What is collected for one (nodes, ppn): seconds at every point, launch by launch."""

    points: Sequence[Point]
    as_is: list[dict[Point, float]] = field(default_factory=list)
    tuned: list[dict[Point, float]] = field(default_factory=list)
    wrong: set[Point] = field(default_factory=set)


def verify_tuning(
    tuning: Tuning,
    machine: Machine,
    program: Path,
    *,
    pairs: int = 7,
    seconds: float = 0.02,
    condition: Condition = USUAL,
    deadline: float = 60.0,
    confidence: float | None = None,
    seed: int = 0,
    progress: Callable[[Step], None] = lambda step: None,
) -> Proof:
    """`pairs` launches each of default and tuned for every (nodes, ppn), at the sizes the tuning was measured at.

    `program` is unisono-bench, `seconds` the measuring time of one size in one launch, `deadline` that of a hang. A
    launch that fails is recorded and its pair not counted. Raises UserError for fewer than three pairs, when the
    machine has too few nodes or CPUs, and when this MPI has no word for what the tuning sets.
    """
    if pairs < LEAST_PAIRS:
        raise UserError(
            _("{pairs} pairs of launches are too few for an interval; use {least_pairs} or more").format(
                pairs=pairs, least_pairs=LEAST_PAIRS
            )
        )
    chosen = [choose(tuning, nodes, ppn) for nodes, ppn in tuning.cases()]
    applied = [apply_plan(tuning, plan, machine) for plan in chosen]
    prover = _Prover(
        machine,
        program,
        pairs=pairs,
        seconds=seconds,
        condition=condition,
        deadline=deadline,
        statistic=tuning.study.statistic,
        crowded=tuning.conditions.oversubscribed,
        progress=progress,
        total=2 * pairs * sum(not one.is_default for one in applied),
    )
    level = tuning.study.confidence if confidence is None else confidence
    reproducible = tuning.study.reproducible
    cases: list[CaseProof] = []
    for one in applied:
        plan = one.plan
        if one.is_default:
            same = Interval(1.0, 1.0, 1.0)
            cases += [CaseProof(name, plan.nodes, plan.ppn, same, 0, ()) for name in plan.gain]
        else:
            found = prover.run(one, measured_points(tuning, plan), seed)
            cases += _case_proofs(plan, found, level, prover.notes)
    bits = _bits(tuning, applied, machine, program) if reproducible else []
    prover.notes += [one.sentence for one in bits]
    prover.notes += sums.prices(cases, reproducible)
    if reproducible and (said := sums.not_covered((case.collective for case in cases), reproducible)):
        prover.notes.append(said)
    failures, commands = tuple(prover.failures), tuple(prover.commands)
    return Proof(level, tuple(cases), failures, commands, tuple(prover.notes), tuple(bits), reproducible)


def _bits(tuning: Tuning, applied: Sequence[Applied], machine: Machine, program: Path) -> list[SameBits]:
    level, crowded = tuning.study.reproducible, tuning.conditions.oversubscribed
    assert level is not None
    found = (
        same_bits(one, level, machine, program, measured_points(tuning, one.plan), crowded=crowded) for one in applied
    )
    return [one for one in found if one is not None]


def measured_points(tuning: Tuning, plan: Plan) -> list[Point]:
    """The collectives of a plan and the message sizes the tuning was measured at on these ranks."""
    sizes: dict[str, set[int]] = {name: set() for name in plan.gain}
    for other in tuning.plans_for(plan.nodes, plan.ppn):
        for rule in other.rules:
            sizes.setdefault(rule.collective, set()).update(rule.sizes)
    return [(name, size) for name, found in sizes.items() for size in sorted(found)]


@dataclass
class _Prover:
    """Runs the pairs of one case after the other."""

    machine: Machine
    program: Path
    pairs: int
    seconds: float
    condition: Condition
    deadline: float
    statistic: str
    crowded: bool
    """More ranks than CPUs are fine: the tuning was measured so."""
    progress: Callable[[Step], None]
    total: int
    """Launches in all, for the progress."""
    launches: int = 0
    failures: list[Failure] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    steady: Steady = field(default_factory=Steady)
    succession: Succession = field(init=False)

    def __post_init__(self) -> None:
        self.succession = Succession(self.machine)

    def run(self, applied: Applied, points: Sequence[Point], seed: int) -> _Case:
        """All pairs of one case, or as many as make sense."""
        plan = applied.plan
        with_plan = self._line(plan, plan.launch, applied.extra_mca)
        sides = {
            False: self._line(plan, DEFAULT, {}),
            # As in the study: communicators that have been in use, not their first calls.
            True: applied.serving(with_plan, self.machine, {"UNISONO_PATIENCE": "0", **os.environ}),
        }
        self.commands += [line.shell for line in sides.values()]
        self.notes += [note for note in [*applied.notes, *sides[True].notes] if note not in self.notes]
        found = _Case(points)
        dead = {False: 0, True: 0}
        for pair, tuned_first in enumerate(orders(self.pairs, seed)):
            values: dict[bool, dict[Point, float]] = {}
            for tuned in (tuned_first, not tuned_first):
                self.launches += 1
                self.progress(Step(self.launches, self.total, tuned))
                values[tuned] = self._launch(sides[tuned], plan, found, pair, tuned)
                dead[tuned] += not values[tuned]
            if values[False] and values[True]:
                found.as_is.append(values[False])
                found.tuned.append(values[True])
            elif not found.as_is and max(dead.values()) >= _GIVE_UP:
                self.launches += 2 * (self.pairs - pair - 1)
                break
        return found

    def _line(self, plan: Plan, setting: Setting, extra: Mapping[str, str]) -> Command:
        words = [str(self.program)]
        return command(self.machine, setting, plan.nodes, plan.ppn, words, oversubscribe=self.crowded, extra_mca=extra)

    def _launch(self, line: Command, plan: Plan, found: _Case, pair: int, tuned: bool) -> dict[Point, float]:
        """Seconds of every point; empty when the launch failed."""
        out: dict[Point, float] = {}
        try:
            with self.succession.launch(line, plan.nodes) as session:
                for name in dict.fromkeys(name for name, _size in found.points):
                    sizes = [size for other, size in found.points if other == name]
                    session.warm_up(name, sizes, deadline=self.deadline)
                for point in found.points:
                    timing = self._measure(session, point, plan if tuned else None)
                    if isinstance(timing, Timing):
                        out[point] = timing.median if self.statistic == "median" else timing.mean
                        continue
                    status, reason = timing
                    reason = f"{point[0]} at {format_size(point[1])}: {reason}"
                    self.failures.append(Failure(plan.nodes, plan.ppn, pair, tuned, status, reason))
                    if tuned and status == "wrong result":
                        found.wrong.add(point)
                session.check_library()
        except LaunchError as error:
            self.failures.append(Failure(plan.nodes, plan.ppn, pair, tuned, error.status, error.reason))
            return {}
        return out

    def _measure(self, session: Session, point: Point, plan: Plan | None) -> Timing | tuple[str, str]:
        """The timing, or (status, reason) of one that was refused or came with a wrong result. `plan`: None as is."""

        def measure() -> list[Timing]:
            return session.measure(*point, [0], seconds=self.seconds, condition=self.condition, deadline=self.deadline)

        ranks = session.hello.ranks, session.hello.nodes, plan.launch.get("placement") if plan else None
        try:
            (timing,), _ = self.steady.measured(ranks, session.state, measure)
        except ValueError as error:
            return "refused", str(error)
        if timing.refused is not None:
            return "refused", timing.refused
        if timing.correct is False:
            return N_("wrong result"), timing.reason or N_("the result is wrong")
        return timing


def _case_proofs(plan: Plan, found: _Case, confidence: float, notes: list[str]) -> list[CaseProof]:
    """What the pairs say, collective by collective; none with fewer than three pairs, which `notes` then says."""
    if len(found.as_is) < LEAST_PAIRS:
        notes.append(
            N_("{nodes} x {ppn} ranks: only {count} pairs of launches worked, which proves nothing").format(
                nodes=plan.nodes, ppn=plan.ppn, count=len(found.as_is)
            )
        )
        return []
    sides = (found.as_is, found.tuned)
    out = []
    for collective in dict.fromkeys(name for name, _size in found.points):
        mine = [point for point in found.points if point[0] == collective]
        common = [point for point in mine if all(point in launch for side in sides for launch in side)]
        wrong = tuple(size for name, size in mine if (name, size) in found.wrong)
        if not common and not wrong:
            notes.append(
                N_("{collective} on {nodes} x {ppn} ranks: no size was measured in all launches").format(
                    collective=collective, nodes=plan.nodes, ppn=plan.ppn
                )
            )
            continue
        as_is, tuned = ([_geometric_mean(launch, common) for launch in side] for side in sides)
        gain = ratio_interval(as_is, tuned, confidence)
        sizes = tuple(_size_proof(point, found, confidence) for point in common)
        out.append(CaseProof(collective, plan.nodes, plan.ppn, gain, len(found.as_is), sizes, wrong))
    return out


def _size_proof(point: Point, found: _Case, confidence: float) -> SizeProof:
    as_is = tuple(launch[point] for launch in found.as_is)
    tuned = tuple(launch[point] for launch in found.tuned)
    return SizeProof(point[1], ratio_interval(as_is, tuned, confidence), as_is, tuned)


def _geometric_mean(launch: Mapping[Point, float], points: Sequence[Point]) -> float:
    """1 over no points: then all of them were wrong, and the gain says nothing."""
    return math.exp(statistics.fmean(math.log(launch[point]) for point in points)) if points else 1.0
