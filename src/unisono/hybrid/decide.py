"""Which variant is best, how sure that is, and why the others lose."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from unisono.core.interval import Interval
from unisono.core.language import N_
from unisono.decide.statistics import compare
from unisono.hybrid.run import Result
from unisono.hybrid.solver import PARTS
from unisono.hybrid.steady import DRIFT, ENOUGH, Rounds, sort_rounds
from unisono.hybrid.variants import Variant

_WORTH_SAYING = 0.02
"""Of the reference's time: smaller shares explain nothing."""

_ALIKE = "shows no difference from "

_WORDS = {
    "computing": N_("computing {change:+.0%}"),
    "halo_pack": N_("packing the halo {change:+.0%}"),
    "halo_exchange": N_("exchanging the halo {change:+.0%}"),
    "allreduce": N_("allreduce (and waiting in it) {change:+.0%}"),
}


@dataclass(frozen=True, slots=True)
class Rank:
    """A variant in the ranking of one number of nodes."""

    variant: Variant
    name: str
    """The variant's, with its cores where others of that name have more or fewer."""
    seconds: float
    """Median over its launches."""
    gain: Interval
    """Reference / this; above 1 is faster than the reference."""
    launches: int
    gflops: float | None
    speedup: float | None
    """Nakajima's figure: GFLOPS over the reference's on the fewest cores, times those cores."""
    parts: Mapping[str, float]
    """Seconds by part, median over launches; empty for a user's program."""
    iterations: float | None
    why: str
    """One sentence against the best; "" for the best itself."""


@dataclass(frozen=True, slots=True)
class Decision:
    reference: Variant
    ranks: tuple[Rank, ...]
    """Best first, by number of nodes."""
    sentences: tuple[str, ...]
    """The conclusion: one for each number of nodes, fewest first; or that there is none."""
    rounds: Rounds
    """Which of them the ranking is from, and which were discarded because the machine was restless."""
    concluded: bool
    base: Variant
    """Whose speed-up is its number of cores."""

    def used(self, results: Sequence[Result]) -> list[Result]:
        """Of the results those that the ranking is from."""
        return [result for result in results if not self.concluded or result.round in self.rounds.steady]

    def on(self, nodes: int) -> tuple[Rank, ...]:
        """The ranking of a number of nodes, best first."""
        return tuple(rank for rank in self.ranks if rank.variant.nodes == nodes)

    def proven(self, nodes: int) -> Rank | None:
        """The fastest that is surely faster than the reference there; None: there is none, or the machine drifted."""
        return next((rank for rank in self.on(nodes) if rank.gain.low > 1), None) if self.concluded else None

    def reference_on(self, nodes: int) -> Rank:
        """Over which the gains of a number of nodes are."""
        return min(self.on(nodes), key=lambda rank: rank.variant.position)

    def reasons(self, nodes: int) -> list[str]:
        """Why the others lose to the best of a number of nodes; those not told apart from it in one sentence."""
        best, *others = self.on(nodes)
        alike = [rank.name for rank in others if rank.why.endswith(_ALIKE + best.name)]
        said = [f"{rank.why}." for rank in others if rank.name not in alike]
        if alike:
            sentence = (
                N_("{names} shows no difference from {other}.")
                if len(alike) == 1
                else N_("{names} show no difference from {other}.")
            )
            said.append(sentence.format(names=", ".join(alike), other=best.name))
        return said

    def called(self, variant: Variant) -> str:
        """The name of a variant in this ranking."""
        return next(rank.name for rank in self.ranks if rank.variant == variant)

    @property
    def conclusion(self) -> str:
        return " ".join(self.sentences)

    @property
    def node_counts(self) -> list[int]:
        return list(dict.fromkeys(rank.variant.nodes for rank in self.ranks))

    def as_dict(self) -> dict[str, Any]:
        return {
            "reference": self.called(self.reference),
            "conclusion": self.conclusion,
            "concluded": self.concluded,
            "bandwidth_drift": self.rounds.drift,
            "rounds": {"steady": list(self.rounds.steady), "restless": list(self.rounds.restless)},
            "ranking": [
                {
                    "nodes": rank.variant.nodes,
                    "threads": rank.variant.layout.threads,
                    "processes": rank.variant.layout.processes,
                    "cores": rank.variant.cores,
                    "setting": dict(rank.variant.setting),
                    "seconds": rank.seconds,
                    "gain": [rank.gain.mid, rank.gain.low, _finite(rank.gain.high)],
                    "launches": rank.launches,
                    "gflops": rank.gflops,
                    "speedup": rank.speedup,
                    "iterations": rank.iterations,
                    "parts": dict(rank.parts),
                    "why": rank.why,
                }
                for rank in self.ranks
            ],
        }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def decide(results: Sequence[Result], variants: Sequence[Variant], confidence: float) -> Decision | None:
    """None when nothing was measured. The reference is the first variant that was: flat MPI where it is compared; on
    every number of nodes that of gains, on fewest cores that of speed-up. Rounds during which the machine was restless
    are left out, unless too few would be left for a conclusion: then all are shown, and none is drawn."""
    rounds = sort_rounds(results)
    if rounds.enough:
        results = [result for result in results if result.round in rounds.steady]
    measured = [variant for variant in variants if any(r.variant == variant for r in results)]
    if not measured:
        return None
    reference = measured[0]
    ranks: list[Rank] = []
    for nodes in dict.fromkeys(variant.nodes for variant in measured):
        ranks += _ranking([r for r in results if r.variant.nodes == nodes], measured, nodes, confidence)
    fewest = min(measured, key=lambda variant: (variant.cores, variant.position))
    base = next(rank for rank in ranks if rank.variant == fewest)
    ranks = [_with_speedup(rank, base) for rank in ranks]
    found = Decision(reference, tuple(ranks), (), rounds, rounds.enough, fewest)
    return replace(found, sentences=_conclusion(found))


def _ranking(results: Sequence[Result], measured: Sequence[Variant], nodes: int, confidence: float) -> list[Rank]:
    here = [variant for variant in measured if variant.nodes == nodes]
    names = [variant.name for variant in here]
    called = {
        v: N_("{name} using {cores}").format(name=v.name, cores=cores(v.cores)) if names.count(v.name) > 1 else v.name
        for v in here
    }
    cell: dict[Any, dict[int, float]] = {}
    rounds: dict[int, int] = {}
    # Launches of one round run close together; every launch has a number of its own.
    for number, result in enumerate(results):
        if result.seconds is not None:
            cell.setdefault(result.variant.setting, {})[number] = result.seconds
            rounds[number] = result.round
    gains = compare(cell, here[0].setting, rounds, confidence)
    found = [
        _rank(variant, called[variant], [r for r in results if r.variant == variant], gains[variant.setting])
        for variant in here
    ]
    found.sort(key=lambda rank: rank.seconds)
    best = found[0]
    behind = compare(cell, best.variant.setting, rounds, confidence)
    return [best, *(replace(rank, why=_why(rank, best, behind[rank.variant.setting])) for rank in found[1:])]


def cores(number: int) -> str:
    return N_("1 core") if number == 1 else N_("{number} cores").format(number=number)


def _rank(variant: Variant, name: str, results: Sequence[Result], gain: Interval) -> Rank:
    answers = [result.answer for result in results if result.answer]
    parts: dict[str, float] = {}
    if answers:
        of_part = {part: statistics.median(float(a["parts_seconds"][part][0]) for a in answers) for part in PARTS}
        parts = {
            "computing": sum(of_part[part] for part in ("product", "forward", "backward", "dots", "vectors")),
            **{part: of_part[part] for part in ("halo_pack", "halo_exchange", "allreduce")},
        }
    return Rank(
        variant=variant,
        name=name,
        seconds=statistics.median(result.seconds for result in results if result.seconds is not None),
        gain=gain,
        launches=len(results),
        gflops=statistics.median(float(a["gflops"]) for a in answers) if answers else None,
        speedup=None,
        parts=parts,
        iterations=statistics.median(float(a["iterations"]) for a in answers) if answers else None,
        why="",
    )


def _why(rank: Rank, best: Rank, behind: Interval) -> str:
    """ "1 process of 2 threads takes 12 % longer than flat MPI: packing the halo +10 %".

    Parts are of the best one's time; `behind` is best / this.
    """
    if behind.high >= 1:
        return N_("{name} shows no difference from {other}").format(name=rank.name, other=best.name)
    longer = rank.seconds / best.seconds - 1
    said = N_("{name} takes {longer:.0%} longer than {other}").format(name=rank.name, longer=longer, other=best.name)
    if not rank.parts or not best.parts:
        return said
    reasons = []
    if rank.iterations and best.iterations and abs(rank.iterations / best.iterations - 1) >= _WORTH_SAYING:
        more = rank.iterations / best.iterations - 1
        sentence = N_("{share:.0%} more iterations") if more > 0 else N_("{share:.0%} fewer iterations")
        reasons.append(sentence.format(share=abs(more)))
    changes = {part: (rank.parts[part] - best.parts[part]) / best.seconds for part in rank.parts}
    for part, change in sorted(changes.items(), key=lambda item: -abs(item[1])):
        if abs(change) >= _WORTH_SAYING:
            reasons.append(_WORDS[part].format(change=change))
    if not reasons:
        return said
    return N_("{name} takes {longer:.0%} longer than {other}: {reasons}").format(
        name=rank.name, longer=longer, other=best.name, reasons=", ".join(reasons)
    )


def _with_speedup(rank: Rank, base: Rank) -> Rank:
    work = rank.gflops / base.gflops if rank.gflops and base.gflops else base.seconds / rank.seconds
    return replace(rank, speedup=work * base.variant.cores)


def _conclusion(found: Decision) -> tuple[str, ...]:
    if not found.concluded and not found.rounds.restless:
        made = _count(found.rounds)
        return (
            (
                N_("No conclusion: {made} rounds were made; {enough} are needed.")
                if made > 1
                else N_("No conclusion: {made} round was made; {enough} are needed.")
            ).format(made=made, enough=ENOUGH),
            N_("Go on with --resume --rounds {enough} or more: what was measured is kept.").format(enough=ENOUGH),
        )
    if not found.concluded:
        return (
            N_(
                "No conclusion: the machine's memory bandwidth was within a factor of {drift} in "
                "{count} of {rounds} rounds only; {enough} are needed."
            ).format(drift=DRIFT, count=len(found.rounds.steady) or "none", rounds=_count(found.rounds), enough=ENOUGH),
            N_("Go on with --resume when the machine is quiet: what was measured is kept."),
        )
    sentences = []
    for nodes in found.node_counts:
        here = found.on(nodes)
        best = found.proven(nodes)
        where = (
            (N_("On {nodes} nodes") if nodes > 1 else N_("On 1 node"))
            if len(found.node_counts) > 1
            else N_("On this machine")
        )
        where = where.format(nodes=nodes)
        reference = found.reference_on(nodes).name
        if best is not None:
            sentences.append(
                N_(
                    "{place}, {name} is the fastest: {mid:.2f} times as fast as {reference} ({low:.2f} to {high:.2f})."
                ).format(
                    place=where,
                    name=best.name,
                    mid=best.gain.mid,
                    reference=reference,
                    low=best.gain.low,
                    high=best.gain.high,
                )
            )
        elif len(here) > 1:
            sentences.append(
                N_("{place}, nothing is proven faster than {reference}.").format(place=where, reference=reference)
            )
        else:
            sentences.append(N_("{place}, only {reference} was measured.").format(place=where, reference=reference))
    if found.rounds.restless:
        sentences[-1] += f" {discarded(found.rounds)}"
    return tuple(sentences)


def discarded(rounds: Rounds) -> str:
    """ "2 of 7 rounds were discarded: ..."."""
    count = len(rounds.restless)
    sentence = (
        N_("{count} of {rounds} rounds was discarded, because the machine's memory bandwidth was different during it.")
        if count == 1
        else N_(
            "{count} of {rounds} rounds were discarded, because the machine's memory bandwidth was different during "
            "them."
        )
    )
    return sentence.format(count=count, rounds=_count(rounds))


def _count(rounds: Rounds) -> int:
    return len(rounds.steady) + len(rounds.restless)
