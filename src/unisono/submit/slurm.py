"""Jobs of Slurm, by sbatch and squeue; needs no accounting. Tried with 22.05.

Partition, account and whatever else a site wants of every job come from Slurm's own variables (SBATCH_PARTITION,
SBATCH_ACCOUNT, ...), so nobody has to repeat them here.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from unisono.core.asking import ask
from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.submit.scheduler import Request, Seen, State

_WARNING = 60
"""Seconds before its end in which a job stops measuring by itself. Slurm may be up to a minute late."""
_TIMEOUT = 30.0
_ENDED = {
    *("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "DEADLINE", "PREEMPTED", "REVOKED"),
    *("NODE_FAIL", "BOOT_FAIL", "OUT_OF_MEMORY"),
}
_RUNNING = {"RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "SIGNALING", "STAGE_OUT"}


class Slurm:
    """See scheduler.Scheduler."""

    name = "slurm"

    def script(self, request: Request) -> str:
        minutes = math.ceil(request.seconds / 60)
        # --no-requeue: a job that is to run again is submitted again, so that one study has one writer.
        return "\n".join(
            [
                "#!/bin/sh",
                f"#SBATCH --job-name={request.name}",
                f"#SBATCH --nodes={request.nodes}",
                "#SBATCH --exclusive",
                f"#SBATCH --time={minutes}",
                f"#SBATCH --signal=B:TERM@{_WARNING}",
                "#SBATCH --no-requeue",
                "#SBATCH --output=job-%j.out",
                "#SBATCH --error=job-%j.err",
                f"exec {shlex.join(request.argv)}",
                "",
            ]
        )

    def submit(self, script: Path, options: Sequence[str]) -> str:
        folder = script.parent.resolve()
        argv = ["sbatch", "--parsable", *options, f"--chdir={folder}", str(script.resolve())]
        answer = ask(argv, timeout=_TIMEOUT)
        found = re.match(r"(\d+)(?:;|$)", answer.out.strip(), re.ASCII)
        if not answer.ok or found is None:
            said = (answer.error or answer.out).strip().splitlines() or [_("nothing")]
            raise UserError(_("sbatch: refused the job (it said: {said})").format(said=said[-1][:300]))
        return found[1]

    def find(self, name: str) -> str | None:
        answer = _squeue(f"--name={name}", "--format=%A")
        ids = sorted(map(int, re.findall(r"^\d+$", answer, re.MULTILINE | re.ASCII)))
        return str(ids[-1]) if ids else None

    def look(self, ids: Sequence[str]) -> Mapping[str, Seen]:
        """A job that squeue has forgotten has ended some time ago (slurm.conf, MinJobAge)."""
        mine = set(ids)
        # All jobs of the user are asked for: squeue fails when one of a list of ids is forgotten.
        return {**dict.fromkeys(ids, Seen("ended", "")), **parse(_squeue("--format=%A|%T|%L|%r"), mine)}


def parse(text: str, ids: set[str]) -> dict[str, Seen]:
    """Of `squeue --format=%A|%T|%L|%r`, the jobs of these ids."""
    seen = {}
    for line in text.splitlines():
        id, _bar, rest = line.strip().partition("|")
        word, _bar, rest = rest.partition("|")
        left, _bar, reason = rest.partition("|")
        if id in ids:
            state: State = "ended" if word in _ENDED else "running" if word in _RUNNING else "waiting"
            seen[id] = Seen(state, word, reason if reason != "None" else "", left)
    return seen


def _squeue(*words: str) -> str:
    answer = ask(["squeue", "--me", "--noheader", "--states=all", *words], timeout=_TIMEOUT)
    if not answer.ok:
        said = answer.error.strip().splitlines() or [_("nothing")]
        raise UserError(
            _("squeue: does not answer (it said: {said}); jobs go on: continue later with --resume").format(
                said=said[-1][:300]
            )
        )
    return answer.out
