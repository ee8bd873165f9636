"""The program's mix of calls: for every hot spot its collective, ranks, message sizes, time and waiting.

A launch setting acts on the whole program, so a prediction needs all calls, also those nobody measures. They are kept
apart by kind (advise.kinds): collectives that are measured, blocking ones and nonblocking ones with the wait for them,
those that are not, point-to-point messages with the calls that complete them, and the rest. Messages are looked up as
exchanges among the program's own partners, or as ping-pongs where those are not known, or nobody measured them, which
say something about them, if less: calls that only complete messages get the sizes of the messages there are, by their
bytes and number.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from unisono.advise.kinds import COLLECTIVE, EXCHANGE, MEASURED, MESSAGES, NONBLOCKING, PINGPONG, kind_of
from unisono.core.errors import UserError
from unisono.core.language import N_, _
from unisono.core.sizes import format_size
from unisono.core.vocabulary import PARTNERS_MOST, USUAL, Case, Condition, blocking
from unisono.profile.cost import difference
from unisono.profile.hot import HotSpot, hot_spots
from unisono.profile.late import LateMessages
from unisono.profile.recorded import UNKNOWN, Profile, is_persistent
from unisono.profile.sites import sites
from unisono.profile.sizes import EXACT
from unisono.profile.words import SINGLE, caller

RARE = 0.1
"""Of the messages of the pair that has most: pairs with fewer have no part in every step."""
_ALL_TO_ALL = frozenset(
    {
        "allreduce",
        "allgather",
        "allgatherv",
        "alltoall",
        "alltoallv",
        "alltoallw",
        "reduce_scatter",
        "reduce_scatter_block",
    }
)
"""No rank can leave before the last has come, so the rank that spends least in it bounds the transfer."""

PER_MESSAGE = 4096
"""Starting a message costs about as much as so many bytes: how completed messages of several sizes share the time."""
_NAMED = 50
"""Of so many hot spots the caller is looked for above wrappers that several share."""
_OUTSIDE = frozenset({"MPI_Init", "MPI_Init_thread", "MPI_Finalize", "MPI_Session_init", "MPI_Session_finalize"})
"""Before and after the time a prediction speaks of: no setting that is measured here changes them knowably."""


@dataclass(frozen=True, slots=True)
class Use:
    """Calls of one message size at one hot spot; times in seconds, all ranks together."""

    size: int
    """Bytes as IMB counts them, or UNKNOWN."""
    exact: bool
    """All calls had that size; else it is their mean."""
    calls: int
    """All ranks together."""
    time: float
    waiting: float
    """NaN where not measured."""


@dataclass(frozen=True, slots=True)
class Spot:
    """One hot spot; times in seconds, all ranks together."""

    kind: str
    function: str
    """ "MPI_Alltoall"."""
    path: int
    """Index into the profile's paths."""
    where: str
    """Who calls: "transpose_x_yz"; "" where the call path is not known."""
    phase: str
    case: Case | None
    """Collective and ranks, where both are known."""
    time: float
    """Of a nonblocking collective with the wait for it, which no other spot has."""
    waiting: float
    """NaN where not measured."""
    calls: float
    """Per rank that calls, on average."""
    uses: tuple[Use, ...]
    """By message size, most time first."""
    evenness: float
    """Time of the rank that spends least / mean over the ranks; NaN where that says nothing about waiting."""
    fastest: float = math.nan
    """Seconds of the shortest call of a collective that no rank can leave before all have come; NaN for others."""
    waits: tuple[float, ...] = ()
    """Seconds each rank waits in a call for the last, on average: see profile.hot.HotSpot."""
    late: LateMessages | None = None
    """Whom a point-to-point call waited for: see profile.hot.HotSpot."""
    completion: float = math.nan
    """Of a nonblocking collective, the part of `time` that is the wait for it: see profile.hot.HotSpot."""
    own: tuple[Use, ...] = ()
    """Of messages that are replayed in one step, and so count as one size: `uses` with their own sizes."""

    @property
    def name(self) -> str:
        """ "Alltoall from transpose_x_yz"."""
        name = self.function.removeprefix("MPI_")
        name = _("{function} from {caller}").format(function=name, caller=self.where) if self.where else name
        return _("{name} in {phase}").format(name=name, phase=self.phase) if self.phase else name

    @property
    def sizes_text(self) -> str:
        """ "512 KiB a peer", "8 B to 64 KiB", "" for a barrier."""
        sizes = sorted(use.size for use in self.own or self.uses if use.size >= 0)
        if not sizes or sizes[-1] == 0:
            return ""
        text = _("{least} to {most}").format(least=format_size(sizes[0]), most=format_size(sizes[-1]))
        if sizes[0] == sizes[-1]:
            text = format_size(sizes[0])
            text = text if all(use.exact for use in self.own or self.uses) else _("about {size}").format(size=text)
        peer = self.case and blocking(self.case.collective) in ("alltoall", "alltoallv", "alltoallw")
        return _("{size} a peer").format(size=text) if peer else text


@dataclass(frozen=True, slots=True)
class Mix:
    """All spots, most time first. `total` is the time of all ranks together in seconds, without what recording added as
    far as that is known."""

    spots: tuple[Spot, ...]
    total: float
    ranks: int
    world: tuple[int, int] | None
    """(nodes, ppn) of the program; None where the profile does not tell."""
    notes: tuple[str, ...]
    as_is: tuple[float, ...] = ()
    """Times of runs without the recorder, where there were some: how much runs differ."""
    outside: float = 0.0
    """Of the time of such a run, the part before MPI_Init ends and after MPI_Finalize begins, where that is known:
    nothing of it is recorded, and savings are parts of the rest."""
    conditions: Mapping[Case, Condition] = field(default_factory=dict)
    """Under which the benchmark's calls are most like the program's, where that was found out (advise.replayed)."""

    def condition(self, case: Case) -> Condition:
        return self.conditions.get(case, USUAL)

    @property
    def main(self) -> Spot:
        """The one to speak of first: as profile.words.main_spot."""
        first = self.spots[0]
        if first.calls > 1:
            return first
        repeated = (spot for spot in self.spots if spot.calls > 1 and spot.time * SINGLE > first.time)
        return next(repeated, first)

    @property
    def measurable(self) -> float:
        """Part of the program's time in calls that a study can measure."""
        return self.share(self.time(*MEASURED))

    def share(self, seconds: float) -> float:
        """Of the program's time."""
        return seconds / self.total

    def time(self, *kinds: str) -> float:
        """Seconds of all ranks in calls of these kinds (none: of all)."""
        return math.fsum(spot.time for spot in self.spots if not kinds or spot.kind in kinds)


def mix_of(profile: Profile, nodes: int | None = None) -> Mix:
    """The mix of a profile. `nodes`: how many it ran on, for profiles that do not hold it.

    Raises UserError for a profile without MPI calls, or without any time.
    """
    found = [spot for spot in hot_spots(profile) if spot.function not in _OUTSIDE]
    if not found:
        raise UserError(_("the profile holds no MPI calls: nothing to advise on"))
    world, notes = _world(profile, nodes)
    names = _callers(profile, found)
    first = list(zip(names[:_NAMED], found[:_NAMED], strict=True))
    differ = sites(profile, [((spot.function, name, spot.phase), spot.path) for name, spot in first])
    names[:_NAMED] = [f"{name} ({site})" if site else name for (name, _spot), site in zip(first, differ, strict=True)]
    whole = world is not None and world[0] * world[1] == profile.ranks
    step = tuple(tuple(row) for row in profile.step.tolist()) if whole else ()
    pairs = partners(profile) if whole and not step else ()
    messages = EXCHANGE if pairs or step else PINGPONG
    spots = _completed([_spot(profile, spot, name, world, messages) for spot, name in zip(found, names, strict=True)])
    if step:
        spots = _in_one_step(spots, int(profile.step["bytes"].max()))
    spots, total = _without_barriers(profile, spots)
    if total <= 0:
        raise UserError(_("the profile holds no time, so nothing can be said about a gain"))
    spots.sort(key=lambda spot: -spot.time)
    collectives = [spot for spot in spots if spot.kind in (COLLECTIVE, NONBLOCKING)]
    if any(spot.case is None for spot in collectives):
        notes.append(
            N_("the size of some communicators is not known, so calls on them cannot be looked up in the tuning")
        )
    if any(spot.comm is None or spot.comm.size == UNKNOWN for spot in found if spot.collective):
        notes.append(N_("communicators of unknown size are assumed to be MPI_COMM_WORLD"))
    if any(not use.exact and use.size > 0 for spot in collectives for use in spot.uses):
        notes.append(N_("some message sizes are means of calls with different sizes"))
    if profile.origin.dropped:
        notes.append(
            N_("{count} calls are missing from the profile: its tables were full").format(count=profile.origin.dropped)
        )
    if profile.origin.source != "unisono":
        notes += profile.notes
    conditions = {}
    if messages == EXCHANGE and world is not None:
        conditions[Case(EXCHANGE, *world)] = Condition(partners=pairs, step=step)
    return Mix(
        tuple(spots), total, profile.ranks, world, tuple(notes), profile.origin.as_is, _outside(profile), conditions
    )


def _outside(profile: Profile) -> float:
    """See Mix. What a metric finds is the program's own affair."""
    origin = profile.origin
    if not origin.as_is or origin.metric or not len(profile.wall):
        return 0.0
    run = min(origin.as_is)
    return max(0.0, 1 - float(profile.wall.max()) / run) if run > 0 else 0.0


def partners(profile: Profile) -> tuple[tuple[int, int], ...]:
    """(source, target) of each message of a step, as `exchange` replays them: who sends to whom at least a tenth as
    often as those who do so most. () where nobody does, or where a step has more than PARTNERS_MOST."""
    others = profile.pairs[profile.pairs["source"] != profile.pairs["target"]]
    if not len(others):
        return ()
    usual = others[others["calls"] >= RARE * others["calls"].max()]
    found = sorted({(int(pair["source"]), int(pair["target"])) for pair in usual})
    return tuple(found) if len(found) <= PARTNERS_MOST else ()


def on_pingpongs(mix: Mix, cases: Collection[Case]) -> Mix:
    """The mix with its messages looked up as ping-pongs, where only those were measured (`cases`)."""
    if mix.world is None:
        return mix
    own, other = Case(EXCHANGE, *mix.world), Case(PINGPONG, *mix.world)
    if own in cases or other not in cases:
        return mix
    spots = (
        replace(spot, case=other, uses=spot.own or spot.uses, own=()) if spot.case == own else spot
        for spot in mix.spots
    )
    return replace(mix, spots=tuple(spots))


def _without_barriers(profile: Profile, spots: Sequence[Spot]) -> tuple[list[Spot], float]:
    """The spots and the time of all ranks, without what the profiled run took longer than runs as it is, beyond noise.

    Telling waiting apart takes a barrier a call, which was counted as waiting and is not the program's.
    """
    total = float(profile.wall.sum())
    if total < 1e-9:  # no clock tells less apart: there was none
        total = float(profile.cells["time"].sum())
    has_barriers = [spot.kind == COLLECTIVE and not math.isnan(spot.waiting) for spot in spots]
    waiting = math.fsum(spot.waiting for spot, has in zip(spots, has_barriers, strict=True) if has)
    origin = profile.origin
    # The slowest: runs differ by more than their barriers take, where a program is short.
    slowest = max(origin.as_is, default=math.nan)
    # A metric may be of a part of the run, or not in seconds: then the program is taken to have grown like it.
    added = total * (1 - slowest / origin.profiled) if origin.metric else (origin.profiled - slowest) * profile.ranks
    if not (added > 0 and waiting > 0 and difference(origin.as_is, origin.profiled).matters):
        return list(spots), total
    cut = min(added / waiting, 1.0)
    shorter = [_shortened(spot, cut) if has else spot for spot, has in zip(spots, has_barriers, strict=True)]
    return shorter, total - cut * waiting


def _shortened(spot: Spot, cut: float) -> Spot:
    """With less waiting, by a part of it."""
    uses = tuple(
        use
        if math.isnan(use.waiting)
        else replace(use, time=use.time - cut * use.waiting, waiting=(1 - cut) * use.waiting)
        for use in spot.uses
    )
    return replace(
        spot,
        time=spot.time - cut * spot.waiting,
        waiting=(1 - cut) * spot.waiting,
        uses=uses,
        waits=tuple((1 - cut) * each for each in spot.waits),
    )


def _world(profile: Profile, nodes: int | None) -> tuple[tuple[int, int] | None, list[str]]:
    """(nodes, ppn) of MPI_COMM_WORLD, and what is missing to tell."""
    if nodes is None:
        whole = [comm.nodes for comm in profile.comms if comm.size == profile.ranks and comm.nodes > 0]
        nodes = max(whole, default=0) or len(set(profile.origin.hosts)) or None
    if nodes is None or not profile.ranks:
        return None, [_("the profile does not say on how many nodes it ran; give --nodes")]
    return (nodes, -(-profile.ranks // nodes)), []


def _spot(profile: Profile, spot: HotSpot, where: str, world: tuple[int, int] | None, messages: str) -> Spot:
    """`messages`: what is measured for point-to-point calls."""
    collective = spot.collective
    kind = kind_of(spot)
    if kind == NONBLOCKING:
        collective = spot.measured
    if kind == MESSAGES:
        collective, ranks = messages, world
    else:
        ranks = _ranks(profile, spot, world) if collective is not None else None
    # Of a persistent collective each start is a use, and its calls only make requests.
    starts = spot.completed / spot.visits if is_persistent(spot.function) and kind == NONBLOCKING else 1
    uses = [
        Use(0 if spot.collective == "barrier" else s.size, s.kind == EXACT, round(s.calls * starts), s.time, s.waiting)
        for s in spot.sizes
    ]
    even = math.nan
    apart = not profile.origin.summed and spot.ranks > 1 and spot.calls.least == spot.calls.most
    if kind in (COLLECTIVE, NONBLOCKING) and spot.collective in _ALL_TO_ALL and apart and spot.seconds.mean > 0:
        even = spot.seconds.least / spot.seconds.mean
    return Spot(
        kind=kind,
        function=spot.function,
        path=spot.path,
        where=where,
        phase=spot.phase,
        case=Case(collective, *ranks) if collective is not None and ranks else None,
        time=spot.time,
        waiting=spot.waiting,
        calls=spot.calls.mean * starts,
        uses=tuple(uses),
        evenness=even,
        waits=spot.waits if kind == COLLECTIVE else (),
        late=spot.late if kind == MESSAGES else None,
        completion=spot.completion if kind == NONBLOCKING else math.nan,
        fastest=spot.fastest if kind == COLLECTIVE and collective in {*_ALL_TO_ALL, "barrier"} else math.nan,
    )


def _completed(spots: Sequence[Spot]) -> list[Spot]:
    """Calls that complete messages with the sizes of those messages, in the proportion they take to transfer."""
    weights: dict[int, float] = {}
    for spot in spots:
        for use in spot.uses:
            if spot.kind == MESSAGES and use.size >= 0:
                weights[use.size] = weights.get(use.size, 0.0) + use.calls * (use.size + PER_MESSAGE)
    total = math.fsum(weights.values())
    found = []
    for spot in spots:
        uses: list[Use] = []
        for use in spot.uses:
            if spot.kind == MESSAGES and use.size < 0 and total > 0:
                parts = [(size, weight / total) for size, weight in weights.items()]
                uses += [Use(size, False, use.calls, use.time * part, use.waiting * part) for size, part in parts]
            else:
                uses.append(use)
        found.append(replace(spot, uses=tuple(sorted(uses, key=lambda use: (-use.time, use.size)))))
    return found


def _in_one_step(spots: Sequence[Spot], largest: int) -> list[Spot]:
    """Messages that are measured together, in one step: at the size of the largest, by which it is called."""
    return [
        replace(spot, uses=tuple(replace(use, size=largest) for use in spot.uses), own=spot.uses)
        if spot.kind == MESSAGES
        else spot
        for spot in spots
    ]


def _ranks(profile: Profile, spot: HotSpot, world: tuple[int, int] | None) -> tuple[int, int] | None:
    """(nodes, ppn) of a communicator; one of unknown size counts as the world."""
    shape = spot.comm
    if shape is None or shape.size in (UNKNOWN, profile.ranks):
        return world
    if shape.ppn != UNKNOWN:
        return shape.nodes, shape.ppn
    # On a single node, how many nodes a part of its ranks lies on is no question.
    return (1, shape.size) if world is not None and world[0] == 1 else None


def _callers(profile: Profile, spots: Sequence[HotSpot]) -> list[str]:
    """Who calls, for each spot; those that take little time are not told apart from each other."""
    first = spots[:_NAMED]
    names = [caller(profile, spot, first)[0] for spot in first]
    names += [spot.frames[0].label if spot.frames else "" for spot in spots[_NAMED:]]
    return [_short(name) for name in names]


def _short(name: str) -> str:
    """A C++ signature without its result and arguments."""
    bare = name.partition("(")[0]
    return bare.rpartition(" ")[2] or name
