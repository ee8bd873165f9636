"""What a program uses and nobody measured, and the commands that would measure just that."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from unisono.advise.evidence import Evidence
from unisono.advise.kinds import EXCHANGE, MEASURED
from unisono.advise.mix import Mix
from unisono.advise.predict import best_source, outside, unmeasured
from unisono.core.display import percent
from unisono.core.language import N_, _, translated
from unisono.core.sizes import format_size
from unisono.core.vocabulary import USUAL, Case, Condition

WORTH = 0.005
"""Calls that take less than this part of the program's time are not worth a measurement."""
MOST_SIZES = 8
"""How many message sizes of a case are measured at most: times between them are interpolated."""


@dataclass(frozen=True, slots=True)
class Gap:
    """Calls of one case without a measurement."""

    case: Case
    sizes: tuple[int, ...]
    """Those to measure, ascending."""
    share: float
    """Of the program's time."""
    reasons: tuple[str, ...]
    condition: Condition = USUAL
    """Under which to measure them."""

    @property
    def sentence(self) -> str:
        sizes = ", ".join(map(format_size, self.sizes)) if self.sizes != (0,) else ""
        said = _("{case} at {sizes}: {share} of the time; {reasons}")
        if not sizes:
            said = _("{case}: {share} of the time; {reasons}")
        reasons = "; ".join(map(translated, self.reasons))
        return said.format(case=translated(str(self.case)), sizes=sizes, share=percent(self.share), reasons=reasons)


def gaps(mix: Mix, evidences: Sequence[Evidence], worth: float = WORTH) -> list[Gap]:
    """The cases with calls that no evidence speaks of, most time first: collectives, and ping-pongs for
    point-to-point messages. Without evidence at all it is everything the program uses."""
    found = []
    cases = {spot.case for spot in mix.spots if spot.kind in MEASURED and spot.case is not None}
    for case in cases:
        source, condition = best_source(case, mix, evidences), mix.condition(case)
        weights: dict[int, float] = {}
        reasons: dict[str, None] = {}
        for spot in mix.spots:
            if spot.kind not in MEASURED or spot.case != case or case.ranks < 2:
                continue
            for use in spot.uses:
                reason = unmeasured(case, use, source)
                if not reason and source is not None and outside(source.sizes(case), use.size):
                    reason = N_("messages of such a size were not measured")
                if not reason and source is not None and source.condition(case) != condition:
                    reason = N_("the measurement had {measured}, but the program has {own}").format(
                        measured=spoken(source.condition(case)), own=spoken(condition)
                    )
                    if case.collective == EXCHANGE:
                        reason = N_("measured with the messages of another program")
                if reason and use.size >= 0:
                    weights[use.size] = weights.get(use.size, 0.0) + use.time
                    reasons[reason] = None
        share = mix.share(math.fsum(weights.values()))
        if weights and share >= worth:
            found.append(Gap(case, chosen_sizes(weights), share, tuple(reasons), condition))
    return sorted(found, key=lambda gap: (-gap.share, gap.case))


def spoken(condition: Condition) -> str:
    return str(condition) or N_("warm buffers, all ranks at once")


def chosen_sizes(weights: dict[int, float], most: int = MOST_SIZES) -> tuple[int, ...]:
    """The sizes to measure, ascending: all when they are few, else both ends of what counts and where the time is."""
    total = math.fsum(weights.values())
    counting = [size for size in sorted(weights) if weights[size] >= 0.001 * total]
    if len(counting) <= most:
        return tuple(counting)
    between = sorted(counting[1:-1], key=lambda size: -weights[size])[: most - 2]
    return tuple(sorted({counting[0], counting[-1], *between}))


def commands(
    found: Sequence[Gap], cpus: int | None, mpi: Sequence[str] = (), output: str = "unisono-out/gaps"
) -> list[str]:
    """One `unisono tune` line for all gaps that can share a study: same ranks and message sizes. `cpus`: of a node,
    None where the machine is not known; `mpi`: the words that name the MPI, where it is not found by itself."""
    groups: dict[tuple[int, int, tuple[int, ...]], list[str]] = {}
    for gap in found:
        if gap.condition != USUAL:
            continue  # `tune` knows of no program
        groups.setdefault((gap.case.nodes, gap.case.ppn, gap.sizes), []).append(gap.case.collective)
    lines = []
    for number, ((nodes, ppn, sizes), names) in enumerate(groups.items()):
        words = ["unisono tune", f"-o {output}{number + 1 if len(groups) > 1 else ''}"]
        words += [f"--collective {name}" for name in names]
        words += [f"--nodes {nodes}", f"--ppn {ppn}"]
        words += [f"--size {size_word(size)}" for size in sizes]
        if cpus is not None and ppn > cpus:
            words.append("--oversubscribe")
        if mpi:
            words.append(shlex.join(mpi))
        lines.append(" ".join(words))
    return lines


def size_word(size: int) -> str:
    """As people write it on a command line: 512K, 1M, 525000."""
    for power, unit in ((30, "G"), (20, "M"), (10, "K")):
        if size and size % (1 << power) == 0:
            return f"{size >> power}{unit}"
    return str(size)
