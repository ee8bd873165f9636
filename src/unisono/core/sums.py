"""Reductions whose results are to be reproducible: what is promised, what serves a call because of it, what it costs.

Every sentence is kept in English; whoever shows it to a person says `translated`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from unisono.core.interval import Interval
from unisono.core.language import N_
from unisono.core.vocabulary import COMBINING, REDUCTIONS, WITH_REQUEST, Level, blocking


class Proven(Protocol):
    """A row of a proof."""

    @property
    def collective(self) -> str: ...
    @property
    def nodes(self) -> int: ...
    @property
    def ppn(self) -> int: ...
    @property
    def verdict(self) -> str: ...


class Priced(Proven, Protocol):
    """The same with what was measured."""

    @property
    def gain(self) -> Interval: ...


def is_promised(collective: str, level: str | None) -> bool:
    """Whether the level says something of the bits of its result; a price may be paid for that."""
    return level is not None and collective in REDUCTIONS


def is_ordered(collective: str, level: str | None) -> bool:
    """Whether our library serves every call of it, in the order of the ranks (native/dispatch/ordered.h)."""
    return is_promised(collective, level) and level != "runs"


def promise(level: Level) -> str:
    """Which level holds, and what that means."""
    return {
        "runs": N_(
            "Reproducible sums (runs): allreduce, reduce, reduce_scatter and reduce_scatter_block give the same bits "
            "in every run that is started in the same way."
        ),
        "placement": N_(
            "Reproducible sums (placement): allreduce, reduce, reduce_scatter and reduce_scatter_block give the same "
            "bits in every run, also when the same ranks run on other cores or on another number of nodes."
        ),
        "ranks": N_(
            "Reproducible sums (ranks): allreduce, reduce, reduce_scatter and reduce_scatter_block give the same bits "
            "in every run, on any cores and nodes; sums of floating-point numbers also when the same numbers come "
            "from more or fewer ranks."
        ),
    }[level]


def baseline(level: Level) -> str:
    """What the gains of reductions are over."""
    if level == "runs":
        return N_("Gains of these reductions compare with the MPI, to which our library leaves what no rule names.")
    return N_(
        "Gains of these reductions compare with what our library chooses by itself in order to keep this promise, not "
        "with the MPI; the proof compares with the MPI."
    )


def not_covered(collectives: Iterable[str], level: Level) -> str:
    """Of the collectives those that combine elements without the promise, a sentence; "" where there is none."""
    names = [name for name in dict.fromkeys(collectives) if _is_left_out(name)]
    if not names:
        return ""
    said = N_(
        "Reproducible sums ({level}) do not cover these reductions, so nothing is promised about the bits of their "
        "results: {names}."
    )
    if all(_is_the_mpis(name, level) for name in names):
        said = N_(
            "Reproducible sums ({level}) do not cover these reductions, which are left to the MPI, so nothing is "
            "promised about the bits of their results: {names}."
        )
    return said.format(level=level, names=", ".join(names))


def serving(collective: str, level: Level) -> str:
    """What serves a call because of the level, or that the level does not cover it; "" for what combines nothing."""
    if collective in REDUCTIONS:
        return _serving(collective, level)
    return not_covered((collective,), level)


def _serving(collective: str, level: Level) -> str:
    if level == "runs":
        return N_("What serves this call is chosen by rules alone, never by a measurement at the start.")
    scatters = collective.startswith("reduce_scatter")
    if level == "ranks":
        said = N_(
            "Our library serves this call with an algorithm that combines the elements in the order of the "
            "ranks and rounds a sum of floating-point numbers once; if no such algorithm applies, it gathers the "
            "elements with the MPI and combines them in a loop."
        )
        if scatters:
            said = N_(
                "Our library serves this call with an alltoallv of the MPI and a loop that combines the "
                "elements in the order of the ranks and rounds a sum of floating-point numbers once."
            )
        return said
    said = N_(
        "Our library serves this call with an algorithm that combines the elements in the order of the "
        "ranks; if no such algorithm applies, it gathers the elements with the MPI and combines them in a loop."
    )
    if scatters:
        said = N_(
            "Our library serves this call with an alltoallv of the MPI and a loop that combines the elements "
            "in the order of the ranks."
        )
    return said


def use(call: Mapping[str, str], collective: str, level: str | None) -> str:
    """What serves where no rule names it, in the words of a table; "" where the level changes nothing of that."""
    if call or not is_ordered(collective, level):
        return ""
    if collective.startswith("reduce_scatter"):
        return N_("our library, by an alltoallv and a loop")
    return N_("what our library chooses, in the order of the ranks")


def price(case: Priced, level: str) -> str:
    """What it takes that a reduction is reproducible, against the MPI as it is."""
    place = N_("{collective} on {nodes} x {ppn} ranks").format(
        collective=case.collective, nodes=case.nodes, ppn=case.ppn
    )
    cost, least, most = (100 * (1 / value - 1) for value in (case.gain.mid, case.gain.high, case.gain.low))
    sentence = {
        "slower": N_("{place}: reproducible ({level}) costs {cost:.0f} % ({least:.0f} to {most:.0f})"),
        "faster": N_("{place}: reproducible ({level}) costs nothing: {cost:.0f} % ({least:.0f} to {most:.0f})"),
    }.get(
        case.verdict,
        N_("{place}: reproducible ({level}): no cost is proven: {cost:+.0f} % ({least:+.0f} to {most:+.0f})"),
    )
    return sentence.format(place=place, level=level, cost=cost, least=least, most=most)


def prices(proof: Iterable[Priced], level: str | None) -> list[str]:
    """Of everything that is promised and was proven, but for wrong results."""
    told = ("slower", "faster", "no difference")
    return [price(case, level) for case in proof if level and case.collective in REDUCTIONS and case.verdict in told]


def _is_left_out(collective: str) -> bool:
    return blocking(collective) in COMBINING and collective not in REDUCTIONS


def _is_the_mpis(collective: str, level: str) -> bool:
    """Whether our library leaves it to the MPI: under `runs` a rule may give it a scan."""
    return collective in WITH_REQUEST or level != "runs"
