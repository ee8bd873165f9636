"""Jobs of Flux, by flux batch and flux jobs. Tried with outputs as its documents have them (flux-core 0.50 to 0.70), on
no Flux.

Queue and bank come from --submit-options: Flux has no variables for them.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from unisono.core.asking import Answer, ask
from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.submit.scheduler import Request, Seen, State

_TIMEOUT = 60.0
_COUNT = 10_000
"""Of the user's jobs, the newest; flux jobs lists a thousand by default."""
_ENDED = {"COMPLETED", "FAILED", "CANCELED", "TIMEOUT", "INACTIVE"}
_RUNNING = {"RUNNING", "RUN", "CLEANUP"}
_FORMAT = "{id.dec}|{status}|{t_remaining!H}|{annotations.sched.reason_pending}"


class Flux:
    """See scheduler.Scheduler."""

    name = "flux"

    def script(self, request: Request) -> str:
        # No line behind the first words may begin as a directive does, or Flux refuses the script: a line break within
        # a word is written as a variable. No signal announces the end, since it would reach Flux's own brokers in the
        # job; measuring ends by the time that is left.
        line = shlex.join(request.argv).replace("\n", "'\"$newline\"'")
        return "\n".join(
            [
                "#!/bin/sh",
                f"#flux: --job-name={request.name}",
                f"#flux: --nodes={request.nodes}",
                "#flux: --exclusive",
                f"#flux: --time-limit={math.ceil(request.seconds / 60)}m",
                "#flux: --output=job-{{id.dec}}.out",
                "#flux: --error=job-{{id.dec}}.err",
                "newline='",
                "'",
                f"exec {line}",
                "",
            ]
        )

    def submit(self, script: Path, options: Sequence[str]) -> str:
        folder = script.parent.resolve()
        argv = ["flux", "batch", *options, f"--cwd={folder}", str(script.resolve())]
        answer = ask(argv, timeout=_TIMEOUT, cwd=folder)
        short = answer.out.strip().splitlines()[-1:]
        number = ask(["flux", "job", "id", "--to=dec", *short], timeout=_TIMEOUT) if answer.ok and short else answer
        if not number.ok or not re.fullmatch(r"[0-9]+", number.out.strip()):
            raise UserError(_("flux batch: refused the job (it said: {said})").format(said=_said(number)))
        return number.out.strip()

    def find(self, name: str) -> str | None:
        ids = sorted(map(int, re.findall(r"^[0-9]+$", _jobs(f"--name={name}", "--format={id.dec}"), re.MULTILINE)))
        return str(ids[-1]) if ids else None

    def look(self, ids: Sequence[str]) -> Mapping[str, Seen]:
        """A job that Flux has purged has ended some time ago."""
        return {**dict.fromkeys(ids, Seen("ended", "")), **parse(_jobs(f"--format={_FORMAT}"), set(ids))}


def parse(text: str, ids: set[str]) -> dict[str, Seen]:
    """Of `flux jobs` in our format, the jobs of these ids."""
    seen = {}
    for line in text.splitlines():
        id, _bar, rest = line.strip().partition("|")
        word, _bar, rest = rest.partition("|")
        left, _bar, reason = rest.partition("|")
        if id in ids:
            state: State = "ended" if word in _ENDED else "running" if word in _RUNNING else "waiting"
            seen[id] = Seen(state, word, reason if state == "waiting" else "", left if state == "running" else "")
    return seen


def _jobs(*words: str) -> str:
    """Raises UserError when Flux does not answer: what is not known must not pass for ended."""
    answer = ask(["flux", "jobs", "-a", "-n", f"--count={_COUNT}", *words], timeout=_TIMEOUT)
    if not answer.ok:
        raise UserError(
            _("flux jobs: does not answer (it said: {said}); jobs go on: continue later with --resume").format(
                said=_said(answer)
            )
        )
    return answer.out


def _said(answer: Answer) -> str:
    lines = (answer.error or answer.out).strip().splitlines() or [_("nothing")]
    return lines[-1][:300]
