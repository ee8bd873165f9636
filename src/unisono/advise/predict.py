"""What a launch setting would gain for a program: an interval, hot spot by hot spot and in all.

The model, kept simple on purpose:

- Only transfer can shrink. Of the time of a call, transfer is what is not waiting. Where waiting was measured, that is
  known; the upper end of the interval lets it shrink in the same proportion, since slow transfers may have caused it.
  Where it was not, transfer is at most what the rank that spends least in the call takes, and what the benchmark takes
  for it (but at least half of the former); the lower end takes half of that, the upper end all of the time. Waiting
  that moves from one call to another (the Reduce of Oracle's profiling guide) is not predicted: `unisono verify
  --profile` shows it.
- Evidence says by how much transfers change (advise.evidence), as an interval that holds between-launch noise.
- A benchmark is not the application: caches, memory, neighbours and the moment of a call differ. Of the logarithm of
  the benchmark's gain the application realises `TRANSFER`. benchmarks/prediction tells how often such intervals hold.
- A ping-pong is one message at a time; a program has many on their way, and waits for its partners: of that gain it
  realises `MESSAGE_TRANSFER`. Of an exchange with the program's own partners it realises as much as of a collective,
  where waiting was told apart for nearly all of the time; else it waits for its partners as ever.
- Sizes beyond the measured ones, up to `REACH` times as large or small, count as the nearest measured, and the interval
  is widened to hold "no effect". Farther ones count as not measured.
- A nonblocking collective costs a program its call and the wait for it, a persistent one its starts and the waits; what
  goes on while the program computes costs nothing and cannot be saved. How much of the wait is for ranks that come late
  is not known, as where waiting was not measured. Of a wait that is left over beside the computation, a change of the
  operation may take away, or add, as much as the whole operation changes: the interval holds both, and never a saving
  of more than was spent.
- What is not measured, or not told by the profile (messages, other ranks or sizes) is touched
  by a launch setting all the same: a choice allows its time to change by `UNMEASURED` either way. That is an assumption
  and no knowledge: an interval that could go either way and is mostly made of it, or is wider than `VAGUE`, is not told
  (`predictable`).
- Ends of hot spots are added as they are: a launch has one fate, so errors of its parts are not independent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from unisono.advise.evidence import Effect, Evidence, Now
from unisono.advise.kinds import EXCHANGE, MEASURED, OTHER_COLLECTIVE, PINGPONG, why_unmeasured
from unisono.advise.mix import Mix, Spot, Use
from unisono.core.interval import Interval
from unisono.core.language import N_
from unisono.core.vocabulary import DEFAULT, WITH_REQUEST, Case, Setting

TRANSFER = (0.5, 0.85, 1.15)
"""How much of the logarithm of a benchmark's gain an application realises: at least, usually, at most."""
MESSAGE_TRANSFER = (0.0, 0.4, 1.15)
"""The same for point-to-point messages and the gain of a ping-pong."""
UNTOLD = 0.1
"""Of the time of messages: with more of it not told apart from waiting they count as a ping-pong's do."""
LEAST_TRANSFER = 0.5
"""Where waiting was not measured, the lower end takes this part of the usual transfer for transfer."""
REACH = 4.0
"""How far beyond the measured sizes the nearest one still says something: a factor."""
UNMEASURED = 0.1
"""How much calls without evidence may change under another launch setting: a part of their time."""
VAGUE = 0.25
"""Of the program's time: an interval around nothing that is wider only says that it could go either way."""
MOSTLY = 0.5
"""An interval around nothing of which this part or more is assumed (`UNMEASURED`) says what was assumed."""
NEGLIGIBLE = 0.01
"""Of the program's time: an interval around nothing that is no wider says that hardly anything changes, whatever
of it is assumed."""
TOO_FEW = N_("measured in too few launches")
TOO_UNCERTAIN = N_("what was measured of its calls is too uncertain")


@dataclass(frozen=True, slots=True)
class SpotPrediction:
    """One hot spot; `saving` in parts of the program's time."""

    spot: Spot
    saving: Interval
    effect: Interval | None
    """Transfer time now / with the setting, as the benchmark has it; None: there is no evidence."""
    unknown: str
    """Why there is none, or what is not covered; "" where all is."""

    @property
    def predictable(self) -> bool:
        """Evidence speaks of these calls, and tells more than that they could get faster or slower."""
        return self.effect is not None and not _vague(self.saving)


@dataclass(frozen=True, slots=True)
class Prediction:
    """One launch setting; `saving` in parts of the program's time: 0.09 is 9 % shorter."""

    launch: Setting
    saving: Interval
    spots: tuple[SpotPrediction, ...]
    """All spots, most time first."""
    assumed: float
    """How much of each half of the interval is not measured but allowed for calls without evidence."""

    @property
    def predictable(self) -> bool:
        """What was measured tells more than that the program could get faster or slower."""
        return not self._mostly_assumed and not _vague(self.saving)

    @property
    def unpredictable(self) -> str:
        """Why what was measured does not tell; "" where it does."""
        if self.predictable:
            return ""
        return TOO_UNCERTAIN if not self._mostly_assumed else N_("most of the calls it acts on were not measured")

    @property
    def _mostly_assumed(self) -> bool:
        width = self.saving.high - self.saving.low
        open_ = self.saving.low <= 0 <= self.saving.high and width > NEGLIGIBLE
        return open_ and self.assumed > 0 and 2 * self.assumed >= MOSTLY * width

    @property
    def gain(self) -> Interval:
        """Time now / time with the setting."""
        return Interval(*(1 / (1 - min(end, 0.99)) for end in (self.saving.mid, self.saving.low, self.saving.high)))


@dataclass
class _Cell:
    """Calls of one hot spot that share one effect."""

    spot: int
    outside: bool
    """Of sizes beyond the measured ones."""
    uses: list[Use] = field(default_factory=list)


@dataclass
class _Block:
    """All measured calls of one case, and what each launch setting does to them."""

    case: Case
    source: Evidence
    now: Now
    mix: Mix
    cells: list[_Cell] = field(default_factory=list)
    effects: list[list[Effect | None]] = field(default_factory=list)
    """For each launch setting, for each cell; the last is that of all cells within the measured sizes together."""

    def add(self, spot: int, use: Use) -> None:
        beyond = outside(self.source.sizes(self.case), use.size)
        cell = next((cell for cell in self.cells if (cell.spot, cell.outside) == (spot, beyond)), None)
        if cell is None:
            self.cells.append(cell := _Cell(spot, beyond))
        cell.uses.append(use)

    @property
    def inside(self) -> list[_Cell]:
        return [cell for cell in self.cells if not cell.outside]

    def ask(self, launches: Sequence[Setting]) -> None:
        asked = [self._weights([cell]) for cell in self.cells]
        self.effects = self.source.effects(
            self.case, launches, self.now, [*asked, self._weights(self.inside or self.cells)]
        )

    def _weights(self, cells: Sequence[_Cell]) -> dict[int, float]:
        weights: dict[int, float] = {}
        for cell in cells:
            for use in cell.uses:
                weights[use.size] = weights.get(use.size, 0.0) + max(self._transfer(cell, use).mid, 1e-12)
        return weights

    def _transfer(self, cell: _Cell, use: Use) -> Interval:
        # How many messages a call completes is not known, so their number times the benchmark's time says nothing.
        messages = self.case.collective in (PINGPONG, EXCHANGE)
        seconds = math.nan if messages else self.source.seconds(self.case, self.now, use.size)
        found = transfer(use, self.mix.spots[cell.spot].evenness, seconds)
        if not self._overlaps or math.isnan(seconds):
            return found
        return Interval(found.mid, found.low, max(found.high, use.calls * seconds))

    @property
    def _overlaps(self) -> bool:
        return self.case.collective in WITH_REQUEST

    def savings(self, at: int) -> tuple[list[Interval], Interval]:
        """Of each cell, and of the whole block, under the launch setting number `at`; parts of the program's time."""
        each = [self._saving([cell], effect) for cell, effect in zip(self.cells, self.effects[at], strict=False)]
        joint = self.effects[at][-1]
        if joint is None or not self.inside:
            return each, added(each)
        beyond = [saving for cell, saving in zip(self.cells, each, strict=True) if cell.outside]
        return each, added([self._saving(self.inside, joint), *beyond])

    def _saving(self, cells: Sequence[_Cell], effect: Effect | None) -> Interval:
        if effect is None:
            return untold(self.mix.share(math.fsum(use.time for cell in cells for use in cell.uses)))
        amounts = [self._transfer(cell, use) for cell in cells for use in cell.uses]
        seconds = Interval(*(math.fsum(getattr(a, end) for a in amounts) for end in ("mid", "low", "high")))
        found = saved(seconds, effect, self._realised(cells), beyond=cells[0].outside)
        if self._overlaps:  # what the program did not wait for it cannot save
            spent = math.fsum(use.time for cell in cells for use in cell.uses)
            found = Interval(*(min(end, spent) for end in (found.mid, found.low, found.high)))
        return Interval(*(self.mix.share(end) for end in (found.mid, found.low, found.high)))

    def _realised(self, cells: Sequence[_Cell]) -> tuple[float, float, float]:
        """How much of the effect the program realises. Of messages as much as of collectives only where they were
        exchanged as the program does, and what they wait for partners is known of nearly all of their time."""
        if self.case.collective not in (PINGPONG, EXCHANGE):
            return TRANSFER
        uses = [use for cell in cells for use in cell.uses]
        untold = math.fsum(use.time for use in uses if math.isnan(use.waiting))
        condition = self.source.condition(self.case)
        told = self.case.collective == EXCHANGE and (condition.partners or condition.step)
        return TRANSFER if told and untold <= UNTOLD * math.fsum(use.time for use in uses) else MESSAGE_TRANSFER


def predict(mix: Mix, evidences: Sequence[Evidence], launches: Sequence[Setting], now: Now = None) -> list[Prediction]:
    """What each plan (by its launch setting) would gain over how the program ran when it was profiled (`now`).

    Of several evidences for a case the one that measured most of the program's calls is taken.
    """
    blocks, missing = _divided(mix, evidences, now)
    for block in blocks:
        block.ask(launches)
    return [_prediction(mix, blocks, missing, at, launch, now) for at, launch in enumerate(launches)]


def _divided(
    mix: Mix, evidences: Sequence[Evidence], now: Now
) -> tuple[list[_Block], dict[int, list[tuple[float, str]]]]:
    """The measured calls by case; and by spot the seconds of those that are not, with the reason."""
    blocks: dict[Case, _Block] = {}
    missing: dict[int, list[tuple[float, str]]] = {}
    for case in {spot.case for spot in mix.spots if spot.kind in MEASURED and spot.case is not None}:
        source = best_source(case, mix, evidences)
        if source is not None and case.ranks > 1:
            blocks[case] = _Block(case, source, now, mix)
    for number, spot in enumerate(mix.spots):
        if spot.kind == OTHER_COLLECTIVE:
            missing[number] = [(spot.time, why_unmeasured())]
        elif spot.kind in MEASURED and (spot.case is None or spot.case.ranks > 1):
            block = blocks.get(spot.case) if spot.case is not None else None
            for use in spot.uses:
                reason = unmeasured(spot.case, use, block.source if block else None)
                if block is None or reason:
                    missing.setdefault(number, []).append((use.time, reason))
                else:
                    block.add(number, use)
    return [block for block in blocks.values() if block.cells], missing


def _prediction(
    mix: Mix,
    blocks: Sequence[_Block],
    missing: dict[int, list[tuple[float, str]]],
    at: int,
    launch: Setting,
    now: Now,
) -> Prediction:
    parts: dict[int, list[Interval]] = {}
    effects: dict[int, Interval] = {}
    lacking: dict[int, list[str]] = {}
    together: list[Interval] = []
    assumed = 0.0
    for block in blocks:
        each, whole = block.savings(at)
        together.append(whole)
        for cell, saving, effect in zip(block.cells, each, block.effects[at], strict=False):
            parts.setdefault(cell.spot, []).append(saving)
            if effect is None:
                lacking.setdefault(cell.spot, []).append(TOO_FEW)
                # The whole block may be told where one of its calls is not.
                assumed += saving.high if block.effects[at][-1] is None or cell.outside else 0.0
            elif cell.outside:
                lacking.setdefault(cell.spot, []).append(N_("some of its sizes lie beyond the measured ones"))
            else:
                effects[cell.spot] = _ratio(effect)
    for number, entries in missing.items():
        share = mix.share(math.fsum(seconds for seconds, _ in entries)) if launch != (now or DEFAULT) else 0.0
        parts.setdefault(number, []).append(untold(share))
        together.append(untold(share))
        assumed += untold(share).high
        lacking.setdefault(number, []).extend(dict.fromkeys(reason for _, reason in entries))
    spots = (
        SpotPrediction(spot, added(parts.get(n, [])), effects.get(n), "; ".join(lacking.get(n, [])))
        for n, spot in enumerate(mix.spots)
    )
    return Prediction(launch, added(together), tuple(spots), assumed)


def _vague(saving: Interval) -> bool:
    """It could go either way, and far."""
    return saving.low < 0 < saving.high and saving.high - saving.low > VAGUE


def untold(share: float) -> Interval:
    """Calls without evidence: nothing is known but that another launch setting may touch them."""
    return Interval(0.0, -UNMEASURED * share, UNMEASURED * share)


def transfer(use: Use, evenness: float, benchmark: float) -> Interval:
    """Seconds of a use that are transfer: usually, at least, at most. `benchmark`: seconds of one call there, or NaN;
    `evenness`: see Spot."""
    if not math.isnan(use.waiting):
        mid = max(use.time - use.waiting, 0.0)
        return Interval(mid, mid, use.time)
    mid = use.time * (1.0 if math.isnan(evenness) else evenness)
    if not math.isnan(benchmark):
        mid = min(mid, max(use.calls * benchmark, mid / 2))
    return Interval(mid, LEAST_TRANSFER * mid, use.time)


def saved(
    seconds: Interval, effect: Effect, realised: tuple[float, float, float] = TRANSFER, *, beyond: bool = False
) -> Interval:
    """Seconds saved of so many seconds of transfer. `realised`: of the effect's logarithm, at least, usually, at most;
    `beyond`: of sizes beyond the measured ones."""
    low, high = effect.mid - effect.half, effect.mid + effect.half
    if beyond:
        low, high = min(low, 0.0), max(high, 0.0)
    low = min(realised[0] * low, realised[2] * low)
    high = max(realised[0] * high, realised[2] * high)
    mid = _part(realised[1] * effect.mid) * seconds.mid
    least = _part(low) * (seconds.low if low > 0 else seconds.high)
    most = _part(high) * (seconds.high if high > 0 else seconds.low)
    return Interval(mid, min(least, mid), max(most, mid))


def _part(log: float) -> float:
    return -math.expm1(-log)


def _ratio(effect: Effect) -> Interval:
    return Interval(*(math.exp(log) for log in (effect.mid, effect.mid - effect.half, effect.mid + effect.half)))


def added(parts: Sequence[Interval]) -> Interval:
    return Interval(*(math.fsum(getattr(part, end) for part in parts) for end in ("mid", "low", "high")))


def outside(sizes: Sequence[int], size: int) -> bool:
    """Beyond the measured sizes (which are ascending, at least one)."""
    return not sizes[0] <= size <= sizes[-1]


def too_far(sizes: Sequence[int], size: int) -> bool:
    """So far beyond them that the nearest says nothing."""
    return max(sizes[0], 1) > REACH * max(size, 1) or size > REACH * max(sizes[-1], 1)


def best_source(case: Case, mix: Mix, evidences: Sequence[Evidence]) -> Evidence | None:
    """The evidence that knows most of the time spent in a case, at sizes within what it measured; what was measured
    under the program's condition comes first."""
    uses = [use for spot in mix.spots if spot.kind in MEASURED and spot.case == case for use in spot.uses]
    best: Evidence | None = None
    most = (False, -1.0, 0)
    for evidence in evidences:
        sizes = evidence.sizes(case)
        if sizes:
            inside = math.fsum(use.time for use in uses if not outside(sizes, use.size))
            known = (evidence.condition(case) == mix.condition(case), inside, len(sizes))
            if known > most:
                best, most = evidence, known
    return best


def unmeasured(case: Case | None, use: Use, source: Evidence | None) -> str:
    """Why nothing can be said about these calls; "" when something can."""
    if case is None:
        return N_("the ranks of its communicator are not known")
    if source is None:
        return N_("{collective} was not measured on {nodes} x {ppn} ranks").format(
            collective=case.collective, nodes=case.nodes, ppn=case.ppn
        )
    if use.size < 0:
        return N_("its message size is not known")
    return N_("messages of such a size were not measured") if too_far(source.sizes(case), use.size) else ""
