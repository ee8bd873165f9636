"""What a batch system must do for us, whichever it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

State = Literal["waiting", "running", "ended"]


@dataclass(frozen=True, slots=True)
class Request:
    """One job: whole nodes for a time, in which `argv` runs once, on the first of them."""

    name: str
    """Ours alone among a user's jobs; letters, digits and hyphens."""
    nodes: int
    seconds: float
    argv: Sequence[str]


@dataclass(frozen=True, slots=True)
class Seen:
    """What the batch system says of a job."""

    state: State
    word: str
    """The batch system's own, e.g. PENDING; "" for a job that it has forgotten."""
    reason: str = ""
    """Why it waits, in its words."""
    left: str = ""
    """Of its time, as the batch system writes it."""


class Scheduler(Protocol):
    name: str

    def script(self, request: Request) -> str:
        """The job script, which can also be submitted by hand."""
        ...

    def submit(self, script: Path, options: Sequence[str]) -> str:
        """The new job's id; its working directory is the script's. `options`: the user's own, for its command. Raises
        UserError where it is refused."""
        ...

    def find(self, name: str) -> str | None:
        """The id of the newest job of this name; None where it knows none."""
        ...

    def look(self, ids: Sequence[str]) -> Mapping[str, Seen]:
        """What it says of each. Raises UserError when it does not answer."""
        ...
