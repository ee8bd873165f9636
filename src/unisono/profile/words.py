"""How hot spots are put into words: sizes, callers, shares. Used wherever people read them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from unisono.core.display import data_amount, percent, seconds
from unisono.core.language import _
from unisono.core.sizes import format_size
from unisono.profile.hot import HotSpot
from unisono.profile.late import late_sentence
from unisono.profile.recorded import UNKNOWN, Profile, has_request, is_nonblocking, is_persistent
from unisono.profile.sizes import EXACT, MEAN, NONE, RANGE, SizeBin
from unisono.profile.tree import labels

PER_PEER = ("alltoall", "alltoallv", "alltoallw")
PER_RANK = ("allgather", "allgatherv", "gather", "gatherv", "scatter", "scatterv", "reduce_scatter_block")
MAIN_SHARE = 0.9
"""A size is the hot spot's one size when it takes this part of its time and of its calls."""
_WRAPPERS_MOST = 3


def bin_size(entry: SizeBin) -> str:
    """ "512 KiB", "~21.3 KiB" for a mean, "1 KiB-1.5 KiB" for a range, "" where there is none."""
    if entry.kind == EXACT:
        text = format_size(entry.size)
        return text if len(text) <= 9 else data_amount(entry.size)
    if entry.kind == MEAN:
        return f"~{data_amount(entry.size)}"
    return f"{data_amount(entry.least)}-{data_amount(entry.most)}" if entry.kind == RANGE else ""


def short(name: str) -> str:
    """A C++ function without its result, arguments and template arguments; any other name as it is."""
    if "(" not in name or "operator" in name or "lambda" in name or name.startswith(("(", "!")):
        return name
    kept, depth = [], 0
    for letter in name:
        depth += letter in "<("
        if depth == 0:
            kept.append(letter)
        depth -= letter in ">)"
    bare = "".join(kept).strip().removesuffix(" const")
    return bare.rpartition(" ")[2] or name


def main_size(spot: HotSpot) -> SizeBin | None:
    """The size that nearly all time and calls are of; None where there is none such, or no message."""
    sized = [entry for entry in spot.sizes if entry.kind != NONE]
    if not sized:
        return None
    first = sized[0]
    enough = first.time >= MAIN_SHARE * spot.time and first.calls >= MAIN_SHARE * spot.visits
    return first if enough or len(sized) == 1 else None


class Callers:
    """Who calls the functions of some hot spots, where a function called through one of the program's own is not told
    by that one but by the function above it."""

    def __init__(self, profile: Profile, spots: Sequence[HotSpot]) -> None:
        self._profile = profile
        self._chains: dict[tuple[str, tuple[str, ...]], set[tuple[str, ...]]] = {}
        for spot in spots:
            chain = labels(profile, spot.path)
            for depth in range(1, _WRAPPERS_MOST + 1):
                self._chains.setdefault((spot.function, chain[:depth]), set()).add(chain)

    def of(self, spot: HotSpot) -> tuple[str, str]:
        """(who calls, through which wrapper): the innermost frame that tells this call path from the function's others.

        Both are "" where the call path is not known, the wrapper also where there is none.
        """
        chain = labels(self._profile, spot.path)
        if not chain:
            return "", ""
        for depth in range(1, min(len(chain), _WRAPPERS_MOST) + 1):
            if self._chains.get((spot.function, chain[:depth]), {chain}) == {chain}:
                return chain[depth - 1], chain[0] if depth > 1 else ""
        above = {other[1] for other in self._chains[spot.function, chain[:1]] if len(other) > 1}
        if len(chain) > 1 and above != {chain[1]}:
            return chain[1], chain[0]  # not told apart even by several frames, but the innermost has several callers
        return chain[0], ""


def caller(profile: Profile, spot: HotSpot, spots: Sequence[HotSpot]) -> tuple[str, str]:
    """`Callers.of` for one hot spot; who asks for many makes `Callers` once."""
    return Callers(profile, spots).of(spot)


def size_phrase(spot: HotSpot) -> str:
    """ "512 KiB a peer", "on average 21.3 KiB", "sizes from 8 B to 1 MiB", "" where there is no message."""
    sized = [entry for entry in spot.sizes if entry.kind != NONE]
    if not sized or all(entry.size == 0 for entry in sized):
        return ""
    main = main_size(spot)
    if main is None:
        least = min(entry.least if entry.least != UNKNOWN else entry.size for entry in sized)
        most = max(max(entry.most, entry.size) for entry in sized)
        return _of(spot, _range(data_amount(least), data_amount(most)))
    if main.kind == MEAN:
        size = _of(spot, data_amount(main.size))
        return _("on average {size} (sizes assumed uniform)").format(size=size)
    if main.kind == RANGE:
        return _of(spot, _range(data_amount(main.least), data_amount(main.most)))
    return _of(spot, bin_size(main))


def _range(least: str, most: str) -> str:
    return _("{least} to {most}").format(least=least, most=most)


def _of(spot: HotSpot, size: str) -> str:
    """What the size is counted per, where that is said."""
    if spot.collective in PER_PEER:
        return _("{size} a peer").format(size=size)
    return _("{size} a rank").format(size=size) if spot.collective in PER_RANK else size


def waiting_phrase(profile: Profile, spot: HotSpot) -> str:
    """ "7 % of that is waiting", or why that is not known."""
    if not math.isnan(spot.waiting_share):
        if spot.late is not None and spot.late.partly(spot.time):
            return _("at least {share} of that is waiting").format(share=percent(spot.waiting_share))
        return _("{share} of that is waiting").format(share=percent(spot.waiting_share))
    if not math.isnan(spot.completion) and has_request(spot.function):
        return completion_phrase(spot)
    if profile.origin.source == "unisono":
        if profile.origin.split_waiting:
            return _("how much of that is waiting cannot be measured for this call")
        return _("how much of that is waiting was not measured (--split-waiting does)")
    return _("how much of that is waiting is not in this profile")


def completion_phrase(spot: HotSpot) -> str:
    """Of a nonblocking collective: "80 % of that is in calls that wait for it, the rest in the call itself"."""
    waited = spot.completion / spot.time if spot.time > 0 else 0.0
    if is_persistent(spot.function):
        text = _("{share} of that is in calls that start it or wait for it, the rest in making its requests")
        return text.format(share=percent(waited))
    said = _("{share} of that is in calls that wait for it, the rest in the call itself").format(share=percent(waited))
    if 0 <= spot.completed < spot.visits:
        return _("{clause}; for {calls} of its calls the waiting time is not known").format(
            clause=said, calls=f"{spot.visits - spot.completed:,}"
        )
    return said


def posted_sentences(spots: Sequence[HotSpot]) -> list[str]:
    """Of the hottest nonblocking collectives the call and the wait for it, a sentence each."""
    said = []
    for spot in spots:
        if spot.share >= LATE_SHARE and is_nonblocking(spot.function) and not math.isnan(spot.completion):
            sentence = _(
                "{call}: {called} in the call itself, {waited} in the calls that complete it; where calls are "
                "shown one by one, that second part counts with those calls."
            )
            times = {"called": seconds(spot.called), "waited": seconds(spot.completion)}
            said.append(sentence.format(call=_at(spot), **times))
    return said[:_LATE_MOST]


def _at(spot: HotSpot) -> str:
    place = spot.frames[0].place or spot.frames[0].label if spot.frames else ""
    return _("{function} at {place}").format(function=spot.function, place=place) if place else spot.function


LATE_SHARE = 0.02
"""Of the program's time: what calls wait for that take less is not told."""
_LATE_MOST = 3


def late_sentences(spots: Sequence[HotSpot]) -> list[str]:
    """For whom the hottest point-to-point calls wait, a sentence each."""
    said = []
    for spot in spots:
        if spot.share >= LATE_SHARE:
            said.append(late_sentence(_at(spot), spot.time, spot.late))
    return [sentence for sentence in said if sentence][:_LATE_MOST]


def answer(profile: Profile, spots: Sequence[HotSpot]) -> str:
    """The one sentence: what takes the most time in MPI, from where, with which messages, and how much is waiting."""
    if not spots:
        return _("There are no MPI calls in this profile.")
    spot = spots[main_spot(spots)]
    name, through = caller(profile, spot, spots)
    size = size_phrase(spot)
    said = _("{function} is {share} of your time; {waiting}.")
    if size:
        said = _("{function}, {size}, is {share} of your time; {waiting}.")
    return said.format(
        function=_called(spot, short(name), short(through)),
        size=size,
        share=percent(spot.share),
        waiting=waiting_phrase(profile, spot),
    )


def _called(spot: HotSpot, name: str, through: str) -> str:
    """The function and who calls it, to begin a sentence with."""
    function = f"{spot.name[:1].upper()}{spot.name[1:]}"  # a damaged file has one without a name
    if not name:
        return function
    said = _("{function} called from {caller}")
    if through:
        said = _("{function} called from {caller} (through {wrapper})")
    return said.format(function=function, caller=name, wrapper=through)


_ONCE = ("MPI_Init", "MPI_Init_thread", "MPI_Finalize")
"""Start and end of the program: outside what is tuned, and often long."""
SINGLE = 4.0
"""A call that is made once, waiting for ranks to start for example, matters when it takes so many times as long as the
most of what is repeated."""


def main_spot(spots: Sequence[HotSpot]) -> int:
    """Which of them, most time first, a reader should look at first; 0 where there is none."""
    inside = [n for n, spot in enumerate(spots) if spot.name not in _ONCE]
    if not inside:
        return 0
    first = inside[0]
    if spots[first].calls.most > 1:
        return first
    repeated = (n for n in inside if spots[n].calls.most > 1 and spots[n].time * SINGLE > spots[first].time)
    return next(repeated, first)
