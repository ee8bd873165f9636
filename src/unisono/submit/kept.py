"""Which jobs a directory has, on disk before anything depends on it: whoever follows them may be killed at any time."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.core.reading import read_text
from unisono.core.toml import explain_validation
from unisono.core.vocabulary import NODES_MOST
from unisono.core.writing import write


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class KeptJob(_Part):
    nodes: Annotated[int, Field(ge=1, le=NODES_MOST)]
    name: Annotated[str, Field(pattern=r"^unisono-[0-9a-f]{8}-[0-9]+-[0-9]+$")]
    """The batch system's name for it."""
    id: Annotated[str, Field(pattern=r"^[0-9]*$")] = ""
    """ "": it was about to be submitted, and may have been."""

    @property
    def folder(self) -> str:
        """Where its study, its script and its outputs are, in the directory of all."""
        return f"nodes-{self.nodes}"


class Kept(_Part):
    format: Literal["unisono-jobs"] = "unisono-jobs"
    format_version: Literal[1] = 1
    scheduler: str
    seconds: Annotated[float, Field(gt=0)]
    """Asked for each job."""
    words: list[str]
    """Of unisono tune, behind -o and --nodes: what every job measures."""
    options: list[str] = []
    """The user's own for the batch system's command: queue, account ..."""
    jobs: list[KeptJob]
    """The latest of each number of nodes."""


def place(directory: Path) -> Path:
    return directory / "jobs.json"


def read(directory: Path) -> Kept:
    path = place(directory)
    if not path.exists():
        raise UserError(
            _("{path}: no jobs were submitted from here; begin with unisono tune --submit slurm --nodes 2,4").format(
                path=path
            )
        )
    try:
        return Kept.model_validate_json(read_text(path))
    except ValidationError as error:
        raise UserError(explain_validation(path, error)) from error


def keep(directory: Path, kept: Kept) -> None:
    write(place(directory), kept.model_dump_json(indent=1) + "\n")


@contextlib.contextmanager
def alone(directory: Path) -> Iterator[None]:
    """Only one command at a time submits from a directory, or a study would get two jobs."""
    directory.mkdir(parents=True, exist_ok=True)
    lock = os.open(directory / "jobs.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise UserError(
                _("{directory}: another unisono tune --submit follows its jobs already").format(directory=directory)
            ) from error
        yield
    finally:
        os.close(lock)
