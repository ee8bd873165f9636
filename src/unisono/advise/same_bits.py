"""Whether reductions give the same bits: the benchmark's own sums, in launches whose ranks are placed differently.

Numbers are doubles of very different sizes, so that almost any other order of adding them shows in the result's last
bits (native/bench/digest.c). The tuned launches get what `unisono run` would give a program.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from unisono.advise.apply import Applied
from unisono.cmdline.command import Command, command
from unisono.cmdline.preload import launcher_of, with_variables
from unisono.core.errors import LaunchError, UserError
from unisono.core.language import N_
from unisono.core.vocabulary import DEFAULT, REDUCTIONS, Setting
from unisono.library.recorder import recorder
from unisono.machine.description import Machine
from unisono.measure.session import Session
from unisono.parameters.availability import available_values
from unisono.parameters.folding import fold
from unisono.parameters.spelling import require_mpi

_SIZES = 8
"""Message sizes of a collective, spread over those that were measured."""
_LONGEST = 256 << 20
"""Bytes of a rank's vector (native/bench/digest.c)."""
_PRETENDED = {"UNISONO_FAKE_NODES": "%2"}
"""Two nodes to our library, ranks dealt to them in turn: its ways over nodes serve."""

Point = tuple[str, int]
Digests = dict[Point, str]


@dataclass(frozen=True, slots=True)
class SameBits:
    """What launches of one plan gave."""

    level: str
    nodes: int
    ppn: int
    collectives: tuple[str, ...]
    layouts: tuple[str, ...]
    """How ranks were placed in the tuned launches, in words; the default in two of them."""
    same: bool
    as_is: int
    """Results of the MPI as it is: the most that one sum had under the same placements. 0: no launch of it worked."""
    failed: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        names, layouts = ", ".join(self.collectives), "; ".join(self.layouts)
        place = N_("{names} on {nodes} x {ppn} ranks").format(names=names, nodes=self.nodes, ppn=self.ppn)
        if not self.same:
            return N_(
                "{place}: not reproducible: the bits of the results differ among these launches: {layouts}"
            ).format(place=place, layouts=layouts)
        said = N_("{place}: reproducible ({level}): the same bits in all of these launches: {layouts}").format(
            place=place, level=self.level, layouts=layouts
        )
        if self.as_is > 1:
            said += N_("; the MPI without our library gave up to {count} different results").format(count=self.as_is)
        return said


def same_bits(
    applied: Applied, level: str, machine: Machine, program: Path, points: Sequence[Point], *, crowded: bool
) -> SameBits | None:
    """None where no reduction is among the points. `program` is unisono-bench. A launch that fails is left out and
    named; fewer than two that work show nothing, and are not called the same."""
    plan = applied.plan
    wanted = _spread(points, plan.ranks)
    if not wanted:
        return None
    prover = _Launches(applied, machine, program, crowded, wanted)
    tuned = [prover.tuned(N_("default"), DEFAULT), prover.tuned(N_("default"), DEFAULT)]
    plain = [prover.plain(DEFAULT)]
    if level != "runs":
        for setting in _placements(machine, plan.nodes, plan.ppn, plan.launch):
            tuned.append(prover.tuned(str(setting), setting))
            plain.append(prover.plain(setting))
        if plan.nodes == 1:
            tuned.append(prover.tuned(N_("two pretended nodes, ranks dealt in turn"), DEFAULT, _PRETENDED))
    if level == "ranks" and plan.ppn > 2:
        tuned += prover.fewer()
    done = [digests for digests in tuned if digests]
    return SameBits(
        level,
        plan.nodes,
        plan.ppn,
        tuple(dict.fromkeys(name for name, _size in wanted)),
        tuple(dict.fromkeys(prover.layouts)),
        len(done) > 1 and all(_agree(one, other) for one in done for other in done),
        max((len({one[point] for one in plain if point in one}) for point in wanted), default=0),
        tuple(prover.failed),
    )


def _agree(one: Digests, other: Digests) -> bool:
    return all(other.get(point, digest) == digest for point, digest in one.items())


def _spread(points: Sequence[Point], ranks: int) -> list[Point]:
    found: list[Point] = []
    for name in REDUCTIONS:
        most = _LONGEST // ranks if name == "reduce_scatter_block" else _LONGEST
        sizes = sorted(size for other, size in points if other == name and 0 < size <= most)
        step = max(1, len(sizes) / _SIZES)
        found += [(name, sizes[int(index * step)]) for index in range(min(len(sizes), _SIZES))]
    return found


def _placements(machine: Machine, nodes: int, ppn: int, launch: Setting) -> list[Setting]:
    """Where ranks can be put otherwise than the plan does."""
    asked = [Setting({"placement": value}) for value in available_values("placement", machine, None)]
    kept, _said = fold([DEFAULT, *asked], machine, nodes, ppn)
    own = launch.get("placement")
    return [setting for setting in kept if setting and setting.get("placement") != own]


@dataclass
class _Launches:
    applied: Applied
    machine: Machine
    program: Path
    crowded: bool
    points: Sequence[Point]

    def __post_init__(self) -> None:
        self.layouts: list[str] = []
        self.failed: list[str] = []

    def tuned(self, name: str, setting: Setting, variables: dict[str, str] | None = None) -> Digests:
        try:
            line = self._tuned(setting, self.applied.plan.ppn, variables or {})
        except UserError as error:
            self.failed.append(f"{name}: {error}")
            return {}
        return self._run(name, line, self.points)

    def plain(self, setting: Setting) -> Digests:
        """The MPI as it is."""
        try:
            return self._run("", self._line(setting, {}, self.applied.plan.ppn), self.points)
        except UserError:
            return {}

    def fewer(self) -> list[Digests]:
        """The same numbers from all ranks, of which some have zeros, and from the others alone."""
        plan = self.applied.plan
        ranks = plan.nodes * (plan.ppn - 1)
        name = N_("{ranks} of {all} ranks").format(ranks=ranks, all=plan.ranks)
        lines = [self._tuned(DEFAULT, ppn, {}) for ppn in (plan.ppn, plan.ppn - 1)]
        found = [self._run(name, line, self.points, numbers=ranks) for line in lines]
        # Another sum than that of all ranks: agrees with its like alone.
        return [{(f"{point[0]} of {ranks}", point[1]): digest for point, digest in one.items()} for one in found]

    def _line(self, setting: Setting, extra: dict[str, str], ppn: int) -> Command:
        words = [str(self.program)]
        nodes = self.applied.plan.nodes
        return command(self.machine, setting, nodes, ppn, words, oversubscribe=self.crowded, extra_mca=extra)

    def _tuned(self, setting: Setting, ppn: int, variables: dict[str, str]) -> Command:
        launch = self.applied.plan.launch | setting
        line = self._line(launch, dict(self.applied.extra_mca), ppn)
        line = self.applied.serving(line, self.machine, os.environ)
        if not variables:
            return line
        library = recorder(require_mpi(self.machine).mpicc)
        env = {**os.environ, **line.env}
        added = with_variables(line.argv, launcher_of(line.argv), library, variables, env)
        return replace(line, argv=added.argv, env={**line.env, **added.env})

    def _run(self, name: str, line: Command, points: Sequence[Point], numbers: int | None = None) -> Digests:
        """Nothing where the launch failed."""
        try:
            with Session(line.argv, line.env) as session:
                found = {point: session.digest(*point, numbers=numbers) for point in points}
        except (LaunchError, ValueError) as error:
            self.failed.append(f"{name}: {error}")
            return {}
        if name:
            self.layouts.append(name)
        return found
