"""How often a predicted gain holds the truth: programs under several settings, predicted against measured.

    python benchmarks/prediction.py                    the examples on this machine (about 20 minutes on 2 cores)
    python benchmarks/prediction.py --folder FOLDER    keep profiles, studies and times, or go on with what is there
    python benchmarks/prediction.py --folder FOLDER --seconds 150             for so long only; again to go on
    python benchmarks/prediction.py --load benchmarks/data/prediction         from five programs recorded once

For each subject: time it as it is, profile it, measure the settings at just the calls it makes (five interleaved
launches each), predict as-is / with the setting for every setting, good and bad ones, and for our own collectives;
then run the program in rounds, each round three times as it is (the median counts) and once under every setting, in
random order. The truth is the ratio of the medians over the rounds. It is known no better than runs repeat, so three
intervals are compared with it, of which nothing is fitted to these times:

- that of the gain, alone;
- what advise says that so many rounds will show (advise.scatter): widened by how the runs around the profile differed
  among themselves;
- the gain with the truth's own uncertainty (90 %, from the rounds), added as errors add.

At least 8 in 10 of the latter two should hold it. Last, each program as it is against itself in the same rounds: how
many of these the second interval calls the same.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from prediction_runs import BEFORE_KEY, LAUNCHES, OURS, Times, make, times_of, tuning
from rich.console import Console
from rich.table import Table

from unisono.advise.evidence import StudyEvidence
from unisono.advise.mix import mix_of
from unisono.advise.predict import predict
from unisono.advise.scatter import LEAST_RUNS as LEAST_ROUNDS
from unisono.advise.scatter import shown
from unisono.core.interval import Interval
from unisono.core.vocabulary import DEFAULT, Setting
from unisono.inventory.describe import describe
from unisono.profile.file import load
from unisono.study.store import Store


@dataclass(frozen=True)
class Outcome:
    """One setting for one subject: as-is / with it."""

    subject: str
    setting: str
    predicted: Interval
    """The gain."""
    measured: Interval
    """The ends are those of 90 %."""
    before: tuple[float, ...]
    """Runs as it is around the profile."""
    rounds: int

    @property
    def known(self) -> Interval:
        """The gain, with the uncertainty of the truth added."""
        own = self.measured
        below = math.hypot(math.log(self.predicted.mid / self.predicted.low), math.log(own.high / own.mid))
        above = math.hypot(math.log(self.predicted.high / self.predicted.mid), math.log(own.mid / own.low))
        mid = self.predicted.mid
        return Interval(mid, mid * math.exp(-below), mid * math.exp(above))

    @property
    def shown(self) -> Interval:
        """What the rounds will show of it."""
        return shown(self.predicted, self.before, self.rounds)


def subjects_in(folder: Path) -> list[str]:
    """With times of some rounds."""
    names = sorted(path.name.removesuffix(".times.json") for path in folder.glob("*.times.json"))
    return [name for name in names if len(times_of(folder, name).get(DEFAULT.key, [])) >= LEAST_ROUNDS]


def outcomes(folder: Path, subject: str) -> list[Outcome]:
    """What was predicted from what is in the folder, against the times."""
    times = times_of(folder, subject)
    chosen = [setting for setting in map(Setting.from_key, times.keys() - {BEFORE_KEY}) if not setting.is_default]
    mix = mix_of(load(folder / f"{subject}.profile"))
    plans = tuning(folder, subject, chosen, mix)
    with Store.open(folder / f"{subject}.db") as store:
        evidence = StudyEvidence(store.data(), plans)
    before = _before(times)
    found = []
    for setting, prediction in zip(sorted(chosen), predict(mix, [evidence], sorted(chosen)), strict=True):
        rows = zip(times[DEFAULT.key], times[setting.key], strict=False)
        pairs = [(statistics.median(a), t[0]) for a, t in rows if not any(map(math.isnan, (*a, *t)))]
        if len(pairs) >= LEAST_ROUNDS:
            name = "our collectives" if setting == OURS else str(setting)
            found.append(Outcome(subject, name, prediction.gain, truth(pairs), before, len(pairs)))
    return found


def _before(times: Times) -> tuple[float, ...]:
    return tuple(value for (value,) in times[BEFORE_KEY])


def truth(pairs: Sequence[tuple[float, float]]) -> Interval:
    """The ratio of the medians, and where 90 % of the ratios are of as many rounds drawn from these."""
    rows = np.array(pairs)
    drawn = rows[np.random.default_rng(1).integers(len(rows), size=(4000, len(rows)))]
    ratios = np.median(drawn[:, :, 0], axis=1) / np.median(drawn[:, :, 1], axis=1)
    middle = np.median(rows[:, 0]) / np.median(rows[:, 1])
    return Interval(float(middle), *map(float, np.quantile(ratios, (0.05, 0.95))))


def same(times: Times) -> list[bool]:
    """The program against itself, three times: whether it is called the same."""
    rounds = [row for row in times[DEFAULT.key] if not any(map(math.isnan, row))]
    within = shown(Interval(1.0, 1.0, 1.0), _before(times), len(rounds))
    columns = [statistics.median(column) for column in zip(*rounds, strict=True)]
    return [within.low <= a / b <= within.high for a, b in itertools.combinations(columns, 2)]


def show(found: Sequence[Outcome], against_itself: Sequence[bool], conditions: Mapping[str, object]) -> None:
    table = Table(title="As-is / with the setting, predicted and measured", title_justify="left")
    for name in ("subject", "setting", "gain, predicted", "rounds should show", "rounds showed", "holds"):
        table.add_column(name, overflow="fold")
    for o in found:
        cells = [f"{i.mid:.3f} ({i.low:.3f} to {i.high:.3f})" for i in (o.predicted, o.measured)]
        seen = f"{o.shown.low:.3f} to {o.shown.high:.3f}"
        table.add_row(o.subject, o.setting, cells[0], seen, cells[1], "yes" if holds(o.shown, o) else "no")
    Console(width=130).print(table)
    kinds = {
        "gain": ("of the predicted gains hold what the rounds showed", [o.predicted for o in found]),
        "shown": ("do with how runs differed before", [o.shown for o in found]),
        "gain_and_truth": ("with how the rounds themselves differed", [o.known for o in found]),
    }
    counted = {
        name: {"held": sum(map(holds, each, found)), "median_width_percent": width(each)}
        for name, (_, each) in kinds.items()
    }
    for name, (words, _) in kinds.items():
        count = counted[name]
        print(f"{count['held']} of {len(found)} {words}; median width {count['median_width_percent']} %.")
    print(f"As they are, against themselves: {sum(against_itself)} of {len(against_itself)} called the same.")
    document = {
        "intervals": len(found),
        **counted,
        "measured_width_percent": width([o.measured for o in found]),
        "same_called_same": [sum(against_itself), len(against_itself)],
        "outcomes": [
            {
                "subject": o.subject,
                "setting": o.setting,
                "predicted": _ends(o.predicted),
                "shown": _ends(o.shown),
                "measured": _ends(o.measured),
                "held": holds(o.shown, o),
            }
            for o in found
        ],
        "conditions": dict(conditions),
    }
    print(json.dumps(document))


def holds(interval: Interval, outcome: Outcome) -> bool:
    return interval.low <= outcome.measured.mid <= interval.high


def _ends(interval: Interval) -> list[float]:
    return [round(end, 4) for end in (interval.low, interval.mid, interval.high)]


def width(intervals: Sequence[Interval]) -> float | None:
    """Median, from end to end."""
    widths = [math.log(interval.high / interval.low) for interval in intervals]
    return round(100 * math.expm1(statistics.median(widths)), 2) if widths else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--subjects", nargs="*", help="names; else all", default=[])
    parser.add_argument("--mpirun", help="the MPI to use; else the one beside this Python, which mpi4py needs")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--folder", type=Path, help="what is there is kept and continued")
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop after so long; then --folder to go on")
    parser.add_argument("--load", type=Path, metavar="FOLDER", help="measure nothing")
    arguments = parser.parse_args()
    beside = Path(sys.executable).parent / "mpirun"
    machine = describe(arguments.mpirun or (str(beside) if beside.exists() else None))
    assert machine.mpi is not None
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.load or arguments.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        if not arguments.load and not make(folder, arguments.subjects, arguments.rounds, machine, arguments.seconds):
            print("Not complete: the same command goes on.", file=sys.stderr)
        names = subjects_in(folder)
        if not arguments.load:
            conditions: dict[str, object] = {
                "machine": f"{machine.cpu_model}, {machine.cores} cores",
                "mpi": f"{machine.mpi.family} {machine.mpi.version}",
                "load": [round(value, 2) for value in os.getloadavg()],
            }
            (folder / "conditions.json").write_text(json.dumps(conditions))
        conditions = json.loads((folder / "conditions.json").read_text())
        found = [o for name in names for o in outcomes(folder, name)]
        itself = [answer for name in names for answer in same(times_of(folder, name))]
        rounds = max((o.rounds for o in found), default=0)
        show(found, itself, {**conditions, "launches": LAUNCHES, "rounds": rounds, "programs": len(names)})


if __name__ == "__main__":
    main()
