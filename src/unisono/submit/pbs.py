"""Jobs of PBS Professional and OpenPBS, by qsub and qstat. Tried with outputs as their documents have them, on no PBS.

Torque's qstat knows no JSON and is refused with a sentence. Queue and project come from --submit-options: PBS has no
variables for them.
"""

from __future__ import annotations

import json
import math
import re
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from unisono.core.asking import Answer, ask
from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.inventory.scheduler import parse_left
from unisono.submit.scheduler import Request, Seen, State

_TIMEOUT = 60.0
_RUNNING = {"R", "E", "S", "U", "B"}
_ENDED = {"F", "X", "M", "C"}
_WORDS = {
    "Q": "QUEUED",
    "H": "HELD",
    "W": "WAITING",
    "T": "MOVING",
    "R": "RUNNING",
    "E": "EXITING",
    "S": "SUSPENDED",
    "U": "SUSPENDED",
    "B": "RUNNING",
    "F": "FINISHED",
    "X": "FINISHED",
    "M": "MOVED",
    "C": "FINISHED",
}
_FORGOTTEN = re.compile(r"Unknown Job Id|Job has finished|history", re.IGNORECASE)


class Pbs:
    """See scheduler.Scheduler."""

    name = "pbs"

    def script(self, request: Request) -> str:
        minutes = math.ceil(request.seconds / 60)
        cpus = node_cpus(_json("pbsnodes", ["-a", "-F", "json"]))
        # The job writes its outputs itself: PBS brings its own files only when the job has ended.
        return "\n".join(
            [
                "#!/bin/sh",
                f"#PBS -N {request.name}",
                f"#PBS -l select={request.nodes}:ncpus={cpus}:mpiprocs={cpus}",
                "#PBS -l place=scatter:excl",
                f"#PBS -l walltime={minutes // 60:02d}:{minutes % 60:02d}:00",
                "#PBS -r n",
                "#PBS -V",
                "#PBS -j oe",
                "#PBS -o job.pbs",
                'cd -- "$PBS_O_WORKDIR" || exit 1',
                "id=${PBS_JOBID%%.*}",
                'exec >"job-$id.out" 2>"job-$id.err"',
                f"exec {shlex.join(request.argv)}",
                "",
            ]
        )

    def submit(self, script: Path, options: Sequence[str]) -> str:
        argv = ["qsub", *options, str(script.resolve())]
        answer = ask(argv, timeout=_TIMEOUT, cwd=script.parent.resolve())
        found = re.match(r"(\d+)(?:\.|$)", answer.out.strip(), re.ASCII)
        if not answer.ok or found is None:
            raise UserError(_("qsub: refused the job (it said: {said})").format(said=_said(answer)))
        return found[1]

    def find(self, name: str) -> str | None:
        answer = ask(["qselect", "-x", "-N", name], timeout=_TIMEOUT)
        ids = sorted(map(int, re.findall(r"^(\d+)(?:\.\S*)?$", answer.out, re.MULTILINE | re.ASCII)))
        return str(ids[-1]) if ids else None

    def look(self, ids: Sequence[str]) -> Mapping[str, Seen]:
        """A job that qstat has forgotten has ended some time ago."""
        return {**dict.fromkeys(ids, Seen("ended", "")), **parse(_json("qstat", ["-x", "-f", "-F", "json", *ids]), ids)}


def parse(document: Mapping[str, Any], ids: Sequence[str]) -> dict[str, Seen]:
    """Of `qstat -f -F json`, the jobs of these ids."""
    seen = {}
    for whole, job in _table(document, "Jobs").items():
        id = str(whole).partition(".")[0]
        if id not in ids or not isinstance(job, dict):
            continue
        letter = str(job.get("job_state", ""))
        state: State = "ended" if letter in _ENDED else "running" if letter in _RUNNING else "waiting"
        reason = str(job.get("comment", "")) if state == "waiting" else ""
        seen[id] = Seen(state, _WORDS.get(letter, letter), reason, left(job))
    return seen


def left(job: Mapping[str, Any]) -> str:
    """Of its time; "" where nothing says it."""
    asked = parse_left(str(_table(job, "Resource_List").get("walltime", "")))
    used = parse_left(str(_table(job, "resources_used").get("walltime", "0:00"))) or 0.0
    if asked is None:
        return ""
    seconds = int(max(0.0, asked - used))
    return f"{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"


def node_cpus(document: Mapping[str, Any]) -> int:
    """CPUs of a node, as most of those have them that are up: a chunk that wants more never starts. Raises UserError
    where pbsnodes names none."""
    counts: Counter[int] = Counter()
    for node in _table(document, "nodes").values():
        if not isinstance(node, dict) or re.search(r"down|offline|unknown", str(node.get("state", ""))):
            continue
        ncpus = str(_table(node, "resources_available").get("ncpus", ""))
        if re.fullmatch("0*[1-9][0-9]{0,8}", ncpus):
            counts[int(ncpus)] += 1
    if not counts:
        raise UserError(_("pbsnodes: names no node that is up and says how many CPUs it has"))
    return counts.most_common(1)[0][0]


def _table(record: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """What a record has by this name, where that is a table."""
    value = record.get(key)
    return value if isinstance(value, dict) else {}


def _json(command: str, words: Sequence[str]) -> Mapping[str, Any]:
    answer = ask([command, *words], timeout=_TIMEOUT)
    try:
        document = json.loads(answer.out)
    except ValueError:
        document = None
    if isinstance(document, dict):  # also beside complaints about jobs that are forgotten
        return document
    if _FORGOTTEN.search(answer.error):
        return {}
    raise UserError(
        _(
            "{command}: does not answer in JSON, as PBS Professional and OpenPBS do (it said: {said}); jobs go on: "
            "continue later with --resume"
        ).format(command=command, said=_said(answer))
    )


def _said(answer: Answer) -> str:
    lines = (answer.error or answer.out).strip().splitlines() or [_("nothing")]
    return lines[-1][:300]
