"""The launches that collectives_one_node.py keeps, and what they say of each collective and message size."""

from __future__ import annotations

import json
import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from one_node_peers import MODEL
from one_node_tables import Row

from unisono.measure.limits import floor
from unisono.measure.protocol import Limits

AS_IS = ("Open MPI ob1/", "Open MPI UCX/")
"""Open MPI with none of its components or algorithms asked for."""
UNUSUAL = 1.8
"""A state so many times as slow as the usual one is another (unisono.measure.steady)."""


@dataclass(frozen=True)
class Launch:
    times: dict[int, dict[str, float]]
    """Size -> who, "" for what serves by itself -> seconds. Ours begin with "unisono/"."""
    states: dict[int, float]
    """Size -> the machine's state (unisono.measure.steady), the worse of before and after; 0: unknown."""
    limits: Limits | None


class Kept:
    """What was measured, launch by launch: a file that later runs go on from, or only this run's memory."""

    def __init__(self, file: Path | None) -> None:
        self.file = file
        self.launches: list[tuple[tuple[int, str, str], Launch]] = []
        self._seen = 0, math.inf
        """Of so many launches, up to where a state is the usual one."""
        for line in file.read_text().splitlines() if file and file.exists() else []:
            one = json.loads(line)
            times = {int(size): by_who for size, by_who in one["times"].items()}
            states = {int(size): state for size, state in one["states"].items()}
            limits = one["limits"] and Limits.model_validate(one["limits"], strict=False)
            self.launches.append(((one["turn"], one["collective"], one["peer"]), Launch(times, states, limits)))

    @property
    def collectives(self) -> list[str]:
        """What was measured."""
        return list(dict.fromkeys(collective for (_, collective, _), _ in self.launches))

    @property
    def sizes(self) -> list[int]:
        return sorted({size for _, launch in self.launches for size in launch.times})

    def add(self, turn: int, collective: str, peer: str, launch: Launch) -> None:
        self.launches.append(((turn, collective, peer), launch))
        if self.file:
            limits = launch.limits and launch.limits.model_dump()
            one = {"turn": turn, "collective": collective, "peer": peer, "times": launch.times}
            with self.file.open("a") as file:
                file.write(json.dumps({**one, "states": launch.states, "limits": limits}) + "\n")

    def usual(self, state: float) -> bool:
        """Whether a state is the machine's usual one: that of the better half, of all launches so far."""
        if self._seen[0] != len(self.launches):
            seen = sorted(state for _, launch in self.launches for state in launch.states.values())
            self._seen = len(self.launches), UNUSUAL * seen[len(seen) // 4] if seen else math.inf
        return state <= self._seen[1]

    def missing(self, turn: int, collective: str, peer: str, sizes: Iterable[int]) -> list[int]:
        """Of these sizes what was not yet measured in the usual state."""
        states = [launch.states for key, launch in self.launches if key == (turn, collective, peer)]
        return [size for size in sizes if not any(size in of and self.usual(of[size]) for of in states)]

    def times(self, collective: str, size: int) -> dict[str, list[float]]:
        """Seconds of each round, by "PEER/WHAT", where they were measured in the usual state; else in whatever was."""
        usual: dict[str, list[float]] = defaultdict(list)
        others: dict[str, list[float]] = defaultdict(list)
        for (_, of, peer), launch in self.launches:
            found = usual if self.usual(launch.states.get(size, 0.0)) else others
            for who, seconds in launch.times.get(size, {}).items() if of == collective else ():
                found[f"{peer}/{who}"].append(seconds)
        return {**others, **usual}

    def limits(self, collective: str | None = None) -> list[Limits]:
        """What launches in the usual state found of the machine itself."""
        return [
            launch.limits
            for (_, of, _), launch in self.launches
            if of == (collective or of)
            and launch.limits
            and launch.limits.flags_ns
            and all(map(self.usual, [launch.limits.flags_ns, *launch.states.values()]))
        ]

    def bound(self, collective: str, ranks: int, size: int) -> float | None:
        """The middle of the bounds that the launches of a collective found."""
        bounds = [bound for limits in self.limits(collective) if (bound := floor(limits, collective, 1, ranks, size))]
        return statistics.median(bounds) if bounds else None

    def copy_rates(self) -> dict[str, dict[int, float]]:
        """Whose data -> bytes -> 1e9 bytes a second, all copying at once."""
        found: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
        for rate in (rate for limits in self.limits() for rate in limits.copy_rates):
            found["what another has just written"][rate.bytes].append(rate.gbps_all)
            if rate.gbps_own:
                found["what it has written itself"][rate.bytes].append(rate.gbps_own)
        return {what: {size: statistics.median(some) for size, some in of.items()} for what, of in found.items()}


def best(middle: dict[str, float], *, ours: bool, choosing: bool) -> tuple[float, str] | None:
    """The quickest of ours, or of all else, in the launches that choose or in the others."""
    found = [
        (seconds, who)
        for who, seconds in middle.items()
        if ("/unisono/" in who) == ours and who.startswith(MODEL) == choosing
    ]
    return min(found, default=None)


def rows(kept: Kept, collectives: Iterable[str], sizes: Sequence[int], ranks: int) -> Iterator[Row]:
    """A row for each collective and size, as far as both ours and the peers were measured."""
    for collective in collectives:
        for size in sizes:
            middle = {who: statistics.median(values) for who, values in kept.times(collective, size).items()}
            mine, rival = best(middle, ours=True, choosing=False), best(middle, ours=False, choosing=False)
            chosen, beside = best(middle, ours=False, choosing=True), best(middle, ours=True, choosing=True)
            if mine is None or rival is None:
                continue
            bound = kept.bound(collective, ranks, size)
            as_is = min((middle[who] for who in AS_IS if who in middle), default=None)
            yield {
                "collective": collective,
                "size": size,
                "best": mine[1].split("/unisono/")[1],
                "ours_us": mine[0] * 1e6,
                "chosen_us": chosen[0] * 1e6 if chosen else None,
                "rival": rival[1].replace("/", " ", 1).strip(),
                "rival_us": rival[0] * 1e6,
                "ratio": rival[0] / mine[0],
                "chosen_ratio": rival[0] / chosen[0] if chosen else None,
                "as_is_ratio": as_is / mine[0] if as_is else None,
                "as_is_chosen_ratio": as_is / chosen[0] if as_is and chosen else None,
                "choice_of_best": beside[0] / chosen[0] if chosen and beside else None,
                "beside": beside[1].split("/unisono/")[1] if beside else None,
                "of_limit": bound / mine[0] if bound else None,
                "rival_of_limit": bound / rival[0] if bound else None,
                "all_us": {who: seconds * 1e6 for who, seconds in middle.items()},
            }
