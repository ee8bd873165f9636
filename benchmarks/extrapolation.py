"""Picks for numbers of nodes that were not fitted, judged by what was measured there.

    python benchmarks/extrapolation.py PICO/mare_nostrum
    python benchmarks/extrapolation.py --fit SMALL.db [...] --judge LARGE.db [...] [--keep POINTS.jsonl]
    python benchmarks/extrapolation.py benchmarks/data/extrapolation.jsonl

The argument is a system's directory as PICO (HLC-Lab/pico, MIT) publishes it, as for benchmarks/published.py. Models
are fitted to smaller numbers of nodes and predict a larger one: from the one below it, from all below it, and from
those up to 16. With --fit and --judge, studies (of `unisono tune`, on a virtual cluster or a real one, or of `unisono
simulate tune`) are fitted, and predict what other studies of the same machine found; --keep adds their times to a file,
which is judged again by its name. Nothing of what is judged was seen. A pick is made among the settings that were
measured on the nodes predicted: what failed or took too long there cannot be judged, and a size where less than half
was measured is not. The network of a simulated machine is told as a site would tell it (`unisono extrapolate
--platform`): by its groups and the bandwidth of its links, right or --bandwidth-off. Picks that were used and took
twice as long as the best, or longer, have a line each.

Regret is the time of a pick over that of the best measured setting, geometric mean over message sizes. The best is
chosen by the very numbers it is judged by, which flatters it a little. "kept" is the regret without predictions: the
library's default where it was measured; for GPUs, where none was, what was best on the largest number of nodes
fitted. "pick" is the regret of what is predicted to be best, "used" that of what is trusted enough to replace what
was kept. "inside" is the share of the measured times that lie inside their 95 % intervals; "sure" the share of the
picks used that are said to be sure, and "right" the share of those that were within 5 % of the best.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from statistics import fmean
from typing import cast

import numpy as np
from rich.console import Console
from rich.table import Table

from unisono.advise.measuring import merged
from unisono.core.errors import UserError
from unisono.core.sizes import format_size
from unisono.core.vocabulary import DEFAULT, Case, Setting
from unisono.extrapolate.fit import Point, Predictor, fit, point_of
from unisono.extrapolate.other_ppn import between
from unisono.extrapolate.pick import WITHIN, Pick, pick
from unisono.results.found import Found
from unisono.results.pico import is_job, setting_of, timings
from unisono.search.verdict import decide_study
from unisono.simulate import files
from unisono.simulate.fullest import Fullest
from unisono.study.data import StudyData

Measured = dict[Setting, list[Point]]
Kind = tuple[str, int, str]
"""Collective, ranks a node, where the buffers are."""

GOAL = 1.10
ENOUGH = 0.5
"""A message size is judged where so much of what could have been picked was measured."""
REPORTED = 2.0
"""A pick that is used and takes so many times as long as the best has a line of its own."""


def load(system: Path) -> dict[Kind, Measured]:
    """Median over repetitions of the library's algorithms; of a case that several jobs measured, the first job's."""
    found: dict[Kind, Measured] = defaultdict(lambda: defaultdict(list))
    seen: dict[tuple[Kind, int], str] = {}
    for job in sorted(path for path in system.iterdir() if is_job(path)):
        for gpu in (False, True):
            try:
                for timing in timings(job, Found("pico"), gpu=gpu):
                    about = timing.about
                    setting = Setting({"algorithm": timing.algorithm}) if gpu else setting_of(timing.algorithm)
                    kind = (about.collective, about.ppn, "GPU" if gpu else "CPU")
                    if setting is None or seen.setdefault((kind, about.nodes), timing.test) != timing.test:
                        continue
                    found[kind][setting].append(
                        Point(about.nodes, about.ppn, timing.size, float(np.median(timing.seconds)))
                    )
            except UserError as error:
                print(f"left out: {error}", file=sys.stderr)
    return found


def of_study(study: StudyData) -> dict[Kind, Measured]:
    """What a study estimates, for more than one node. One node tells nothing of a network."""
    found: dict[Kind, Measured] = defaultdict(lambda: defaultdict(list))
    for one in decide_study(study).estimates:
        case = one.case
        if case.nodes > 1:
            found[case.collective, case.ppn, "CPU"][one.setting].append(point_of(one))
    return found


def from_studies(fitted: Sequence[Path], judges: Sequence[Path], off: float) -> list[dict[str, object]]:
    """Every number of nodes of the judging studies, predicted from all of those fitted."""
    small, large = merged(fitted), merged(judges)
    network = network_of(small.name, off)
    return onward(of_study(small), of_study(large), shared=small.nodes_share_cpus, network=network)


def onward(
    known: Mapping[Kind, Measured], truth: Mapping[Kind, Measured], *, shared: bool, network: Fullest | None
) -> list[dict[str, object]]:
    """Every number of nodes of `truth` that is not in `known`; of ranks a node that are not in it, every one."""
    rows = []
    for kind in sorted(truth):
        collective, ppn, where = kind
        laws = {
            one[1]: fit(collective, measured, shared=shared, network=network)
            for one, measured in known.items()
            if (one[0], one[2]) == (collective, where)
        }
        if not laws:
            continue
        near = min(laws, key=lambda measured: abs(math.log2(ppn / measured)))
        small = known[collective, near, where]
        counts = sorted({point.nodes for points in small.values() for point in points})
        models: Mapping[Setting, Predictor] = laws[ppn] if ppn in laws else between(laws, near)
        there = {point.nodes for points in truth[kind].values() for point in points}
        both = {
            setting: [*points, *(p for p in truth[kind].get(setting, []) if ppn not in laws or p.nodes not in counts)]
            for setting, points in (small.items() if ppn in laws else ((s, []) for s in small))
        }
        label = ", ".join(map(str, counts)) + " x " + ", ".join(map(str, [ppn] if ppn in laws else sorted(laws)))
        for target in sorted(there - set(counts) if ppn in laws else there):
            rows.append(judged(kind, models, both, counts, target) | {"from": label})
    return rows


def keep(path: Path, fitted: Sequence[Path], judges: Sequence[Path]) -> None:
    """Adds a line for each time of the studies; the name of the machine is that of the first one's study."""
    small, large = merged(fitted), merged(judges)
    machine: dict[str, object] = {"machine": small.name}
    machine |= {"shared": True} if small.nodes_share_cpus else {}
    with path.open("a", encoding="utf-8") as out:
        for is_fitted, study in ((True, small), (False, large)):
            for (collective, _ppn, _where), measured in of_study(study).items():
                for setting, points in measured.items():
                    for point in points:
                        row = machine | {"fitted": is_fitted, "collective": collective}
                        row |= {"setting": dict(setting), **asdict(point)}
                        row |= {"seconds": float(f"{point.seconds:.4g}"), "noise": float(f"{point.noise:.3g}")}
                        out.write(json.dumps(row, separators=(",", ":")) + "\n")


def network_of(machine: str, off: float) -> Fullest | None:
    """Of a simulated machine: its platform, whose links are said to be `off` times as fast as they are."""
    for platform in map(files.platform, files.names()):
        if machine.startswith(f"{platform.name}, simulated"):
            said = replace(platform.bandwidth, value=off * platform.bandwidth.value)
            return Fullest(replace(platform, bandwidth=said))
    return None


def kept_points(path: Path, off: float) -> list[dict[str, object]]:
    """The rows of every machine of a file that `keep` wrote."""
    machines: dict[tuple[str, bool], tuple[dict[Kind, Measured], dict[Kind, Measured]]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        known, truth = machines.setdefault(
            (row.pop("machine"), row.pop("shared", False)),
            (defaultdict(lambda: defaultdict(list)), defaultdict(lambda: defaultdict(list))),
        )
        found = known if row.pop("fitted") else truth
        kind = (row.pop("collective"), row["ppn"], "CPU")
        found[kind][Setting(row.pop("setting"))].append(Point(**row))
    return [
        row | {"buffers": name}
        for (name, shared), (known, truth) in machines.items()
        for row in onward(known, truth, shared=shared, network=network_of(name, off))
    ]


def judged(
    kind: Kind,
    models: Mapping[Setting, Predictor],
    measured: Mapping[Setting, Sequence[Point]],
    fitted: Sequence[int],
    target: int,
) -> dict[str, object]:
    """The picks for `target` nodes, of models that were fitted to the counts `fitted`."""
    collective, ppn, where = kind
    truth = _times(measured, target)
    last = _times(measured, max(fitted))
    kept, picked, used, sure, right, inside, worst = [], [], [], [], [], [], []
    for size, times in sorted(truth.items()):
        before = DEFAULT if DEFAULT in measured else _nearest_best(last, size)
        # A setting that was not measured there, because it failed or took too long, cannot be judged.
        known = {setting: model for setting, model in models.items() if model.forecast(size, target, ppn) is not None}
        usable = {setting: model for setting, model in known.items() if setting in times}
        if before not in usable or len(usable) < max(2, ENOUGH * len(known)):
            continue
        found = pick(usable, Case(collective, target, ppn), size, before)
        best = min(times.values())
        kept.append(times[before] / best)
        picked.append(times.get(found.likely if found else before, times[before]) / best)
        used.append(times.get(found.setting if found else before, times[before]) / best)
        if found is not None and times.get(found.setting, 0.0) / best > REPORTED:
            worst.append(_told(collective, target, size, found, times, before))
        sure.append(found is not None and found.is_sure)
        if sure[-1]:
            right.append(used[-1] <= 1 + WITHIN)
        for setting, seconds in times.items():
            forecast = models[setting].forecast(size, target, ppn) if setting in models else None
            if forecast is not None:
                low, high = forecast.interval()
                inside.append(low <= seconds <= high)
    return {
        "collective": collective,
        "ppn": ppn,
        "buffers": where,
        "from": ", ".join(map(str, fitted)) + f" x {ppn}",
        "to": target,
        "sizes": len(kept),
        "of": len(truth),
        "kept": mean_ratio(kept),
        "predicted": mean_ratio(picked),
        "used": mean_ratio(used),
        "inside": share(inside),
        "sure": share(sure),
        "right": share(right),
        "worst": worst,
    }


def _told(collective: str, nodes: int, size: int, found: Pick, times: Mapping[Setting, float], before: Setting) -> str:
    """A pick that lost much."""
    best = min(times, key=lambda setting: times[setting])
    return (
        f"{collective} on {nodes} nodes, {format_size(size)}: {found.setting} was predicted to take "
        f"{found.seconds.seconds * 1e6:.3g} us and took {times[found.setting] * 1e6:.3g}; {best} took "
        f"{times[best] * 1e6:.3g}, {before} {times[before] * 1e6:.3g}"
    )


def _times(measured: Mapping[Setting, Sequence[Point]], nodes: int) -> dict[int, dict[Setting, float]]:
    found: dict[int, dict[Setting, float]] = defaultdict(dict)
    for setting, points in measured.items():
        for point in points:
            if point.nodes == nodes:
                found[point.size][setting] = point.seconds
    return found


def _nearest_best(times: Mapping[int, Mapping[Setting, float]], size: int) -> Setting:
    near = times[min(times, key=lambda other: abs(math.log((other + 1) / (size + 1))))]
    return min(near, key=lambda setting: near[setting])


def mean_ratio(ratios: Iterable[float]) -> float:
    logs = [math.log(ratio) for ratio in ratios]
    return math.exp(fmean(logs)) if logs else math.nan


def share(found: Sequence[bool]) -> float | None:
    return fmean(found) if found else None


def every(data: Mapping[Kind, Measured]) -> list[dict[str, object]]:
    rows = []
    for kind, measured in sorted(data.items()):
        counts = sorted({point.nodes for points in measured.values() for point in points})
        for number, target in enumerate(counts[1:], start=1):
            below = counts[:number]
            fits = {tuple(below[-1:]), tuple(below), tuple(count for count in below if count <= 16)} - {()}
            for fitted in sorted(fits):
                small = {setting: [p for p in points if p.nodes in fitted] for setting, points in measured.items()}
                rows.append(judged(kind, fit(kind[0], small), measured, fitted, target))
    return rows


def show(rows: Sequence[Mapping[str, object]]) -> None:
    table = Table(title="Regret of picks on numbers of nodes that were not fitted", title_justify="left")
    for name in (
        "collective",
        "buffers or machine",
        "fitted",
        "predicted",
        "sizes",
        "kept",
        "pick",
        "used",
        "inside",
        "sure",
        "right",
    ):
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(
            str(row["collective"]),
            str(row["buffers"]),
            str(row["from"]),
            f"{row['to']} x {row['ppn']}",
            f"{row['sizes']} of {row['of']}",
            f"{row['kept']:.2f}",
            f"{row['predicted']:.2f}",
            f"{row['used']:.2f}",
            *("-" if row[name] is None else f"{row[name]:.0%}" for name in ("inside", "sure", "right")),
        )
    Console(width=130).print(table)


def _column(rows: Sequence[Mapping[str, object]], column: str) -> list[float]:
    return [float(str(row[column])) for row in rows if row[column] is not None]


def _summed(rows: Sequence[Mapping[str, object]]) -> str:
    kept, predicted, used = (mean_ratio(_column(rows, column)) for column in ("kept", "predicted", "used"))
    told = [round(float(str(row["sure"])) * int(str(row["sizes"]))) for row in rows]
    held = [round(float(str(row["right"] or 0)) * sure) for row, sure in zip(rows, told, strict=True)]
    times = f"kept {kept:.2f}, predicted to be best {predicted:.2f}, used {used:.2f}"
    return f"{times}; {sum(held)} of {sum(told)} picks said to be sure within {WITHIN:.0%}"


def rows_of(source: Path, off: float) -> list[dict[str, object]]:
    """Of a system's directory, or of a file that `keep` wrote."""
    try:
        return kept_points(source, off) if source.is_file() else every(load(source))
    except OSError as error:
        sys.exit(f"{source}: {error.strerror}")
    except (ValueError, KeyError, TypeError, AttributeError):
        sys.exit(f"{source}: not a file that --keep wrote")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "source", type=Path, nargs="*", metavar="SYSTEM|POINTS.jsonl", help="a system's directory, or a file of --keep"
    )
    parser.add_argument("--fit", type=Path, nargs="+", metavar="STUDY.db", help="studies of smaller numbers of nodes")
    parser.add_argument("--judge", type=Path, nargs="+", metavar="STUDY.db", help="studies of larger ones")
    parser.add_argument("--keep", type=Path, metavar="POINTS.jsonl", help="add the studies' times to this file")
    parser.add_argument(
        "--bandwidth-off",
        type=float,
        default=1.0,
        metavar="FACTOR",
        help="say of simulated networks that their links are so many times as fast as they are (inf: say nothing)",
    )
    options = parser.parse_args()
    if options.keep is not None and options.fit is None:
        parser.error("--keep is of the studies of --fit and --judge")
    if bool(options.source) == (options.fit is not None) or (options.fit is None) != (options.judge is None):
        parser.error("name systems' directories and files of --keep, or studies with --fit and --judge")
    if options.fit is not None:
        rows = from_studies(options.fit, options.judge, options.bandwidth_off)
        if options.keep is not None:
            keep(options.keep, options.fit, options.judge)
    else:
        rows = [row for source in options.source for row in rows_of(source, options.bandwidth_off)]
    rows = [row for row in rows if row["sizes"]]
    if not rows:
        sys.exit("nothing was measured on two numbers of nodes")
    show(rows)
    summary: dict[str, object] = {"goal": GOAL, "rows": rows}
    for where in sorted({str(row["buffers"]) for row in rows}):
        mine = [row for row in rows if row["buffers"] == where]
        print(f"{where}: {_summed(mine)}")
        for line in [line for row in mine for line in cast("list[str]", row["worst"])]:
            print(f"  {line}")
        summary |= {f"{where} {column}": mean_ratio(_column(mine, column)) for column in ("kept", "predicted", "used")}
    for kind in ("virtual cluster", "simulated"):
        # Ranks a node that were not measured are another question.
        mine = [row for row in rows if kind in str(row["buffers"]) and "ranks a node" not in str(row["buffers"])]
        if len({row["buffers"] for row in mine}) > 1:
            print(f"All of them ({kind}): {_summed(mine)}")
    print(json.dumps(summary))


if __name__ == "__main__":
    main()
