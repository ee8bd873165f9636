"""What an optimization has done so far: a JSON file in its directory, written after every step, so it can go on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from unisono.advise.paired import LEAST_PAIRS
from unisono.advise.runs import Run
from unisono.core.errors import UserError
from unisono.core.language import _, translated
from unisono.core.reading import read_text
from unisono.core.toml import explain_validation
from unisono.core.writing import write
from unisono.machine.description import Machine
from unisono.machine.fingerprint import differences, fingerprint

FORMAT: Literal["unisono-optimization"] = "unisono-optimization"
VERSION: Literal[1] = 1


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid")


Outcome = Literal["", "faster", "nothing", "undecided", "not measured"]
"""What a round found: a proven gain; that there is none; that it cannot be told yet; that what would tell was not
measured. "" while the round is not over, and in journals written before this was kept."""


class Trial(_Part):
    """One candidate, tried against the state of its round."""

    launch: dict[str, str]
    predicted: tuple[float, float, float]
    """Saving in parts of the program's time: usual, least, most."""
    predictable: bool = True
    """Whether `predicted` says more than what was assumed of calls that were not measured."""
    command: str
    runs: list[Run] = []
    verdict: str = ""
    """"" while it is not finished; else "faster", "no difference", "slower" or "fails"."""
    gain: tuple[float, float, float] | None = None
    """as-is / tuned: mid, low, high."""
    improvement: float | None = None


class Round(_Part):
    """From one as-is to the next."""

    as_is: list[float] = []
    """Seconds of runs of the program as this round found it, by the metric."""
    walls: list[float] = []
    """Wall times in seconds of the same runs, mpirun included."""
    profile: str = ""
    """File name in the directory; "" before it was made."""
    studies: list[str] = []
    """File names of what was measured in this round."""
    replayed: str = ""
    """File name of what the program's conditions made of its calls; "" before that was tried."""
    measured: bool = False
    trials: list[Trial] = []
    accepted: bool = False
    """The last trial is the next round's as-is."""
    ended: str = ""
    """Why the round is over, a sentence; "" while it is not."""
    outcome: Outcome = ""


class Journal(_Part):
    format: Literal["unisono-optimization"] = FORMAT
    version: Literal[1] = VERSION
    argv: list[str]
    metric: str | None
    mpirun: str = ""
    """Absolute path of its launcher; "": of a journal written before this was kept, or of another launcher."""
    machine: dict[str, str]
    pairs: int
    busy: float = 0.0
    """Load average when a run of the driver began, where others used the machine; 0 where it was quiet."""
    spent: float = 0.0
    """Seconds, of all runs of the driver."""
    launch_seconds: float = 0.0
    """Wall time of one run of the program as it is, mpirun included."""
    rounds: list[Round] = []
    whole: Trial | None = None
    """The program as it was against the last state, when several rounds led there."""
    finished: bool = False

    def save(self, path: Path) -> None:
        """Put in place as a whole. Raises UserError when that is not possible."""
        write(path, self.model_dump_json(indent=1) + "\n")

    @classmethod
    def load(cls, path: Path) -> Journal:
        """Raises UserError when the file cannot be read or is no journal of this version."""
        try:
            return cls.model_validate(json.loads(read_text(path)))
        except ValidationError as error:
            raise UserError(_("{path}; choose another -o DIR").format(path=explain_validation(path, error))) from error
        except (ValueError, RecursionError) as error:
            raise UserError(
                _("{path}: is damaged ({error}); choose another -o DIR").format(path=path, error=error)
            ) from error


@dataclass
class Files:
    """Where everything is."""

    directory: Path

    @property
    def journal(self) -> Path:
        return self.directory / "optimize.json"

    @property
    def tuning(self) -> Path:
        return self.directory / "tuning.toml"

    @property
    def story(self) -> Path:
        return self.directory / "story.md"

    @property
    def replayed(self) -> Path:
        return self.directory / "replayed.db"

    def profile(self, number: int) -> Path:
        return self.directory / f"{number}.profile"

    def study(self, number: int) -> Path:
        return self.directory / f"study-{number}.db"


def open_journal(
    files: Files, argv: Sequence[str], machine: Machine, *, metric: str | None, pairs: int, resume: bool
) -> Journal:
    """The journal that is there, or a new one. Raises UserError when one is there and `resume` was not asked for, when
    it is of another command line, or of another machine."""
    if pairs < LEAST_PAIRS:
        raise UserError(
            _(
                "--runs: {pairs} are too few, because the largest and the smallest are dropped; use {least_pairs} or "
                "more"
            ).format(pairs=pairs, least_pairs=LEAST_PAIRS)
        )
    if not files.journal.exists():
        if files.tuning.exists():
            raise UserError(
                _("{tuning}: was not written by unisono optimize; choose another -o DIR").format(tuning=files.tuning)
            )
        return Journal(
            argv=list(argv),
            metric=metric,
            mpirun=machine.mpi.mpirun if machine.mpi else "",
            machine=fingerprint(machine),
            pairs=pairs,
        )
    if not resume:
        raise UserError(
            _("{journal}: exists; continue it with --resume, or choose another -o DIR").format(journal=files.journal)
        )
    journal = Journal.load(files.journal)
    if journal.argv != list(argv) or metric not in (None, journal.metric):
        raise UserError(
            _("{journal}: belongs to another command line or metric; choose another -o DIR").format(
                journal=files.journal
            )
        )
    changed = differences(journal.machine, machine)
    if changed:
        said = _("{path}: was begun on a machine that differs: {changes}")
        if journal.mpirun:
            said = _(
                "{path}: was begun on a machine that differs: {changes} (begun with {mpirun}: write that for mpirun)"
            )
        changes = "; ".join(map(translated, changed))
        raise UserError(said.format(path=files.journal, changes=changes, mpirun=journal.mpirun))
    return journal
