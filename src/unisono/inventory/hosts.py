"""The nodes of the batch job we are in, from what the batch system puts into the environment."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from unisono.core.asking import ask
from unisono.core.errors import UserError
from unisono.core.reading import read_text
from unisono.machine.description import Node

_GROUP = re.compile(r"\[([^\]]*)\]")
_NUMBER = re.compile("[0-9]{1,9}")
_COUNT = re.compile(r"([0-9]{1,9})(?:\(x([0-9]{1,9})\))?")
_MOST = 100_000
"""No job has more nodes; a longer range is a mistake, not a list to expand."""
_GROUPS_MOST = 8
"""In one name; more are no name of a node."""


def job_nodes(environment: Mapping[str, str]) -> list[Node]:
    """The job's nodes in its order with the CPUs it has on each; empty outside a job, or when it does not say.

    Slurm: SLURM_JOB_NODELIST and slurm_slots. PBS: PBS_NODEFILE, a line a slot. LSF: LSB_MCPU_HOSTS. Flux tells a batch
    script nothing by variables, and is asked.
    """
    if "SLURM_JOB_NODELIST" in environment:
        names = expand_nodelist(environment["SLURM_JOB_NODELIST"])
        counts = slurm_slots(environment)
        if len(counts) == len(names):
            return [Node(host=name, slots=count) for name, count in zip(names, counts, strict=True)]
        return [Node(host=name, slots=1) for name in names]
    if "PBS_NODEFILE" in environment:
        try:
            lines = read_text(Path(environment["PBS_NODEFILE"])).split()
        except UserError:
            return []
        return [Node(host=name, slots=count) for name, count in Counter(lines).items()]
    if in_flux_batch(environment):
        return _of_flux(ask(["flux", "resource", "list", "-n", "-s", "all", "-o", "{nodelist} {nnodes} {ncores}"]).out)
    words = environment.get("LSB_MCPU_HOSTS", "").split()
    pairs = zip(words[::2], words[1::2], strict=False)
    return [Node(host=name, slots=int(count)) for name, count in pairs if _NUMBER.fullmatch(count)]


def in_flux_batch(environment: Mapping[str, str]) -> bool:
    """In the script of `flux batch` or the shell of `flux alloc`; a task within it has FLUX_JOB_ID, too."""
    return "FLUX_ENCLOSING_ID" in environment and "FLUX_JOB_ID" not in environment


def _of_flux(text: str) -> list[Node]:
    """Of "n[0-1] 2 72": all cores of whole nodes; [] for anything else."""
    match = re.fullmatch(r"(\S+) ([0-9]{1,9}) ([0-9]{1,9})", text.strip())
    names = expand_nodelist(match[1]) if match else []
    if match is None or len(names) != int(match[2]):
        return []
    return [Node(host=name, slots=max(1, int(match[3]) // len(names))) for name in names]


def slurm_slots(environment: Mapping[str, str]) -> list[int]:
    """Slots of each node of a Slurm job as its launchers count them: tasks, else CPUs; [] where it does not say."""
    return expand_counts(environment.get("SLURM_TASKS_PER_NODE") or environment.get("SLURM_JOB_CPUS_PER_NODE", ""))


def expand_nodelist(text: str) -> list[str]:
    """The names in Slurm's short form: "n[1-3,07],login" -> n1, n2, n3, n07, login. Leading zeros are kept."""
    return list(islice((name for word in _split(text) for name in _expand(word)), _MOST))


def _split(text: str) -> list[str]:
    """At commas outside brackets."""
    words = [""]
    depth = 0
    for letter in text:
        depth += (letter == "[") - (letter == "]")
        if letter == "," and depth <= 0:
            words.append("")
        else:
            words[-1] += letter
    return [word.strip() for word in words if word.strip()]


def _expand(word: str) -> Iterator[str]:
    """One name after the other, for a caller that stops at the most: groups multiply."""
    match = _GROUP.search(word)
    if match is None or word.count("[") > _GROUPS_MOST:
        yield word
        return
    before, after = word[: match.start()], word[match.end() :]
    for part in match[1].split(","):
        for number in _range(part):
            for rest in _expand(after):
                yield before + number + rest


def _range(part: str) -> list[str]:
    first, dash, last = part.strip().partition("-")
    if not dash:
        return [first]
    if not (_NUMBER.fullmatch(first) and _NUMBER.fullmatch(last)):
        return [part.strip()]
    stop = min(int(last), int(first) + _MOST)
    return [f"{number:0{len(first)}d}" for number in range(int(first), stop + 1)]


def expand_counts(text: str) -> list[int]:
    """Slurm's "36(x2),18" -> 36, 36, 18; empty when it is anything else."""
    counts: list[int] = []
    for word in text.split(","):
        match = _COUNT.fullmatch(word.strip())
        if match is None:
            return []
        counts += [int(match[1])] * min(int(match[2] or 1), _MOST)
        if len(counts) > _MOST:
            return []
    return counts
