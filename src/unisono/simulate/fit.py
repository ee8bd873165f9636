"""A platform out of a measured study: what it takes on a node and between nodes, so that simulated times meet measured
ones; and how far they are from them.

The numbers are fitted in turn, each group to the timings that depend on it most: messages on a node to the default on
one node, flags and copies of shared memory to our algorithms there, the network to whatever ran on several nodes.
"""

from __future__ import annotations

import math
import os
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from unisono.core.errors import LaunchError, UserError
from unisono.core.language import _
from unisono.core.vocabulary import SIMULATED, Case, Setting, is_ours
from unisono.decide.document import costs
from unisono.simulate.platforms import Number, Platform
from unisono.simulate.run import Run, end_running
from unisono.simulate.study import COLLECTIVES
from unisono.study.data import StudyData
from unisono.study.store import Store

RANKS_MOST = 256
"""Cases with more ranks take too long to be simulated again and again."""
_FITTED_SIZES = 4
_FITTED_OURS = 3
"""Of our algorithms, the fastest at some size: so many take part in the fit."""
_STEPS = 8
_STRIDE = 0.05
"""Of a logarithm: for derivatives."""
_SECONDS = 60.0

Key = tuple[Case, Setting]
Times = dict[Key, dict[int, float]]
"""Seconds by message size."""


@dataclass(frozen=True, slots=True)
class Error:
    """Simulated over measured times of one collective."""

    collective: str
    mean: float
    """Geometric mean."""
    factor: float
    """Typically off by: from the root mean square of the logarithm."""
    timings: int

    def __str__(self) -> str:
        return (
            f"{self.collective} {self.mean:.2f} times the measured time in the mean, typically off by a factor of "
            f"{self.factor:.2f} ({self.timings} timings)"
        )


@dataclass(frozen=True, slots=True)
class Fit:
    platform: Platform
    errors: tuple[Error, ...]


def fit(path: Path, progress: Callable[[str], None] = lambda sentence: None) -> Fit:
    """The platform of a study. Raises UserError for one that holds nothing to fit to."""
    with Store.open(path) as store:
        data = store.data()
    if data.method == SIMULATED:
        raise UserError(_("{path}: was simulated; a platform is fitted to a study that was measured").format(path=path))
    measured = timings(data)
    if not measured:
        raise UserError(
            _(
                "{path}: holds no timings of {collectives} on at most {most} ranks, to which a platform is fitted"
            ).format(path=path, collectives=", ".join(COLLECTIVES), most=RANKS_MOST)
        )
    platform, source = _start(data), f"fitted to study {data.name} ({data.id})"
    for names, part in _groups(measured):
        progress(_("Fitting {names} to {count} timings").format(names=", ".join(names), count=_count(part)))
        platform = _improved(platform, names, part, source)
    if not any(case.nodes > 1 for case, _setting in measured):
        nothing = "none: the study was measured on one node"
        platform = replace(platform, bandwidth=Number(1e9, nothing), latency=Number(0.0, nothing))
    if not any(setting for _case, setting in measured):
        copied = Number(platform.node_bandwidth.value, "assumed: as fast as a message on the node")
        platform = replace(platform, copy=copied)
    found = _errors(platform, measured)
    return Fit(replace(platform, error="; ".join(map(str, found))), found)


def timings(data: StudyData) -> Times:
    """What of a study can be simulated, medians of launches: the default, our algorithms without launch settings."""
    groups: dict[tuple[Case, Setting, int], list[float]] = defaultdict(list)
    for sample in data.samples:
        case, setting = sample.case, sample.setting
        known = not setting or (set(setting) == {"coll", "algorithm"} and is_ours(setting))
        if case.collective in COLLECTIVES and case.ranks <= RANKS_MOST and known and sample.correct is not False:
            size = -(-sample.size // 8) * 8 if "reduce" in case.collective else sample.size
            groups[case, setting, size].append(sample.median)
    found: Times = defaultdict(dict)
    for (case, setting, size), seconds in sorted(groups.items()):
        if size > 0 and (middle := float(np.median(seconds))) > 0:
            found[case, setting][size] = middle
    return dict(found)


def _start(data: StudyData) -> Platform:
    """What the study measured of its machine as it is; where it did not, something usual."""
    known = costs(data)
    ppn = max(launch.ppn for launch in data.launches)
    message, byte = known.node_latency or 0.3e-6, known.node_byte or 1 / 4e9
    far, far_byte = known.fabric_latency or 2e-6, known.fabric_byte or 1 / 1e9
    start = "assumed: not in the study"
    return Platform(
        f"{data.machine.name} as in study {data.name}",
        "crossbar",
        (max(launch.nodes for launch in data.launches),),
        bandwidth=Number(1 / far_byte, start),
        latency=Number(far / 2, start),
        node_bandwidth=Number(1 / byte, start),
        node_latency=Number(message, start),
        copy=Number(1 / byte, start),
        flag=Number(message / 3, start),
        cores=max(ppn, data.machine.cores),
        about=f"nodes of {max(ppn, data.machine.cores)} cores",
        source=f"study {data.name} ({data.id}) of {data.created[:10]}",
        left_out=(
            "the network's switches: nothing but the nodes' own links is ever full",
            "sockets and NUMA nodes: every core is as far from every other",
        ),
    )


def _groups(measured: Times) -> list[tuple[tuple[str, ...], Times]]:
    """Which numbers are fitted to which timings, in this order."""
    on_node = {key: times for key, times in measured.items() if key[0].nodes == 1}
    far = {key: times for key, times in measured.items() if key[0].nodes > 1}
    found: list[tuple[tuple[str, ...], Times]] = [
        (("node_latency", "node_bandwidth"), {key: times for key, times in on_node.items() if not key[1]}),
        (("flag", "copy"), _fastest(on_node)),
        (("latency", "bandwidth"), {**{key: times for key, times in far.items() if not key[1]}, **_fastest(far)}),
    ]
    if not on_node:
        # Messages on the node are then part of what is known of several nodes alone.
        found[2] = (("latency", "bandwidth", "node_latency", "node_bandwidth"), found[2][1])
    return [(names, _thinned(part)) for names, part in found if part]


def _fastest(measured: Times) -> Times:
    """Of our algorithms those that are the fastest of them at most sizes, a few for each case."""
    wins: dict[Case, dict[Setting, int]] = defaultdict(lambda: defaultdict(int))
    best: dict[tuple[Case, int], tuple[float, Setting]] = {}
    for (case, setting), times in measured.items():
        for size, seconds in times.items() if setting else ():
            best[case, size] = min(best.get((case, size), (math.inf, setting)), (seconds, setting))
    for (case, _size), (_seconds, setting) in best.items():
        wins[case][setting] += 1
    kept = {
        (case, setting)
        for case, counts in wins.items()
        for setting in sorted(counts, key=lambda s: (-counts[s], s))[:_FITTED_OURS]
    }
    return {key: times for key, times in measured.items() if key in kept}


def _thinned(measured: Times) -> Times:
    """A few sizes of each, from the smallest to the largest."""
    thin: Times = {}
    for key, times in measured.items():
        sizes = sorted(times)
        at = {round(i * (len(sizes) - 1) / (_FITTED_SIZES - 1)) for i in range(_FITTED_SIZES)}
        thin[key] = {sizes[i]: times[sizes[i]] for i in sorted(at)}
    return thin


def _improved(platform: Platform, names: Sequence[str], part: Times, source: str) -> Platform:
    """With these numbers as near to the timings as Gauss-Newton steps bring them, in logarithms."""

    def at(logs: np.ndarray) -> Platform:
        said = f"{source}, {_count(part)} timings"
        numbers = {name: Number(float(np.exp(x)), said) for name, x in zip(names, logs, strict=True)}
        return replace(platform, **numbers)  # type: ignore[arg-type]

    x = np.log([platform.numbers[name].value for name in names])
    missing = _misses(at(x), part)
    for _step in range(_STEPS):
        if not missing.size:
            break
        slopes = np.stack(
            [(_misses(at(x + _STRIDE * e), part) - missing) / _STRIDE for e in np.eye(len(names))], axis=1
        )
        step = np.clip(np.linalg.lstsq(slopes, -missing, rcond=1e-3)[0], -1.5, 1.5)
        while np.abs(step).max() > _STRIDE / 10:
            there = _misses(at(x + step), part)
            if (there**2).sum() < (missing**2).sum():
                break
            step = step / 2
        else:
            break
        gained = (missing**2).sum() - (there**2).sum()
        x, missing = x + step, there
        if gained < 0.01 * (missing**2).sum():
            break
    return at(x)


def _misses(platform: Platform, part: Times) -> np.ndarray:
    """Logarithms of simulated over measured; 0 for what could not be simulated, so that fits stay comparable."""
    found = simulated(platform, part)
    return np.array(
        [
            math.log(found[key][size] / seconds) if size in found.get(key, {}) else 0.0
            for key, times in part.items()
            for size, seconds in times.items()
        ]
    )


def simulated(platform: Platform, wanted: Mapping[Key, Mapping[int, float]]) -> Times:
    """The same timings, simulated; as many at once as there are processors."""

    def one(key: Key) -> dict[int, float]:
        case, setting = key
        here, algorithm = platform.sized(case.nodes), setting.get("algorithm", "smpi")
        run = Run(here, case.ppn, case.collective, [algorithm], sorted(wanted[key]))
        try:
            results = run.results(_SECONDS)
        except LaunchError:
            return {}
        return {r.size: r.outcome for r in results if isinstance(r.outcome, float) and r.outcome > 0}

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        try:
            return dict(zip(wanted, pool.map(one, wanted), strict=True))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            end_running()
            raise


def _errors(platform: Platform, measured: Times) -> tuple[Error, ...]:
    found = simulated(platform, measured)
    logs: dict[str, list[float]] = defaultdict(list)
    for (case, setting), times in measured.items():
        for size, seconds in times.items():
            if size in found[case, setting]:
                logs[case.collective].append(math.log(found[case, setting][size] / seconds))
    return tuple(
        Error(name, math.exp(float(np.mean(x))), math.exp(math.sqrt(float(np.mean(np.square(x))))), len(x))
        for name, x in sorted(logs.items())
    )


def _count(part: Times) -> int:
    return sum(map(len, part.values()))
