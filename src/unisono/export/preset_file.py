"""Intel MPI's file of presets (I_MPI_TUNING): which preset serves a collective, by ranks and message size.

    {"coll=Allreduce": {
      "ppn=2": {"comm_size=4": {"comm_id=-1": {
        "msg_size=512": {"ALLREDUCE=1": {}},
        "msg_size=-1": {"ALLREDUCE=10": {}}}}},
      "ppn=-1": {"comm_size=-1": {"comm_id=-1": {"msg_size=-1": {"ALLREDUCE=0": {}}}}}}}

gives calls of up to 512 bytes to preset 1, all larger ones to preset 10, and communicators of other ranks to preset
0. Nothing documents it. How it is read was seen with a debugger on 2021.18.1, by which functions of the library a
call came through: of each level the first key that holds is taken, in the order of the file, and -1 holds always;
where none holds some other is taken. Sizes are bytes as IMB counts them, the end included, of whatever elements.
Preset 0, like one that does not exist, is the logic that is built into the library, and not the table that it loads
for itself where no file names the collective: so a file has to name presets for all sizes of a collective.
Collectives that it does not name keep that table.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from unisono.core.by_size import one_for_all
from unisono.core.errors import UserError
from unisono.core.language import N_, _
from unisono.core.vocabulary import (
    COLLECTIVES,
    INTEL,
    UNISONO,
    Setting,
)
from unisono.mpi.family import Installation
from unisono.tuning.plans import Plan, Rule

NAME = "preset-file.json"
VARIABLE = "I_MPI_TUNING"
OWN = "0"
"""The preset that is the logic built into the library."""

Tree = Mapping[str, "Tree"]

_LARGEST = (1 << 31) - 1
_NONE = 100_000
_LEVELS = ("ppn", "comm_size", "comm_id", "msg_size")


@dataclass(frozen=True, slots=True)
class Presets:
    tree: Tree = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    """One sentence for each thing of the plans that the file cannot say."""

    @property
    def text(self) -> str:
        return json.dumps(self.tree, indent=1) + "\n"


def compile_presets(plans: Sequence[Plan], mpi: Installation) -> Presets:
    """The rules of plans with one launch setting. Communicators of other ranks get what is built into Intel MPI."""
    tree: dict[str, dict[str, dict[str, Tree]]] = {}
    notes: list[str] = []
    for plan in plans:
        for collective in dict.fromkeys(rule.collective for rule in plan.rules):
            steps = _steps(collective, plan, mpi, notes)
            if steps:
                by_ppn = tree.setdefault(f"coll={_word(collective)}", {})
                by_ppn.setdefault(f"ppn={plan.ppn}", {})[f"comm_size={plan.ranks}"] = {"comm_id=-1": steps}
    for coll, by_ppn in tree.items():
        others: Tree = {"comm_id=-1": {"msg_size=-1": {f"{coll.removeprefix('coll=').upper()}={OWN}": {}}}}
        for by_ranks in by_ppn.values():
            by_ranks["comm_size=-1"] = others
        by_ppn["ppn=-1"] = {"comm_size=-1": others}
    if tree:
        notes.append(
            N_(
                "communicators of other numbers of ranks get the choice that is built into Intel MPI (preset 0) for "
                "{collectives}"
            ).format(collectives=", ".join(coll.removeprefix("coll=").lower() for coll in tree))
        )
    return Presets(tree, tuple(dict.fromkeys(notes)))


def _word(collective: str) -> str:
    """As the file calls it: Reduce_scatter."""
    return collective.capitalize()


def _steps(collective: str, plan: Plan, mpi: Installation, notes: list[str]) -> Tree:
    rules = sorted(plan.rules_for(collective), key=lambda rule: rule.first)
    if not any(rule.call.get("coll") == INTEL for rule in rules):
        return {}
    where = N_("{collective} on {nodes} x {ppn} ranks").format(collective=collective, nodes=plan.nodes, ppn=plan.ppn)
    if one_for_all(collective, {"coll": INTEL}) and (len(rules) > 1 or rules[0].first or rules[0].last is not None):
        notes.append(
            N_("{where}: rules by message size are left out, because its ranks may see different sizes").format(
                where=where
            )
        )
        return {}
    steps: list[tuple[int | None, str]] = []
    """The last message size (None: no end) and the preset."""
    for rule in _without_gaps(rules):
        if rule.call.get("coll") == UNISONO:
            continue  # served before Intel MPI is asked: the next step may begin here
        steps.append((rule.last, _preset(rule, where, mpi, notes)))
    steps[-1] = (None, steps[-1][1])
    if any(preset == OWN for _last, preset in steps):
        notes.append(
            N_(
                "{where}: sizes without a preset get the choice that is built into Intel MPI (preset 0), which may "
                "differ from what it does without a file"
            ).format(where=where)
        )
    return {
        f"msg_size={-1 if last is None else min(last, _LARGEST)}": {f"{collective.upper()}={preset}": {}}
        for last, preset in steps
    }


def _without_gaps(rules: Sequence[Rule]) -> Iterator[Rule]:
    """With rules that use nothing for sizes that none names."""
    end = 0
    for rule in rules:
        if rule.first > end:
            yield replace(rule, first=end, last=rule.first - 1, call=Setting())
        yield rule
        if rule.last is None:
            return
        end = rule.last + 1
    yield replace(rules[-1], first=end, last=None, call=Setting())


def _preset(rule: Rule, where: str, mpi: Installation, notes: list[str]) -> str:
    number = rule.call.get("algorithm", OWN)
    if rule.call.get("coll") != INTEL:
        return OWN
    if number in mpi.algorithms.get(rule.collective, {}):
        return number
    notes.append(
        N_("{where}, {range}: {call} is left out, because {mpi} {version} has no such preset").format(
            where=where, range=rule.range_text(), call=rule.call, mpi=mpi.name, version=mpi.version
        )
    )
    return OWN


_KEY = re.compile(r"(coll|ppn|comm_size|comm_id|msg_size)=(-?\w+)")


def read(text: str, where: str) -> Tree:
    """A file that Intel MPI would read as it is meant. Raises UserError with `where` and the place of what is not."""
    try:
        tree = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UserError(_("{where}: is not JSON: {error}").format(where=where, error=error)) from error
    _check(tree, ("coll", *_LEVELS), where)
    return tree  # type: ignore[no-any-return]


def _check(tree: object, levels: Sequence[str], where: str) -> None:
    if not isinstance(tree, dict) or (levels and not tree):
        raise UserError(_("{where}: is no object with conditions").format(where=where))
    for key, below in tree.items():
        match = _KEY.fullmatch(key)
        if levels and (match is None or match[1] != levels[0]):
            raise UserError(
                _("{where}: {key!r} stands where {level}=... belongs").format(where=where, key=key, level=levels[0])
            )
        if levels and levels[0] == "coll" and key.removeprefix("coll=").lower() not in COLLECTIVES:
            raise UserError(_("{where}: {key!r} is no collective").format(where=where, key=key))
        if levels:
            _check(below, levels[1:], f"{where} > {key}")
        elif not re.fullmatch(r"[A-Z_]+=\d+", key) or below != {}:
            raise UserError(_("{where}: {key!r} names no preset, as ALLREDUCE=3 does").format(where=where, key=key))


def leaves(tree: Tree, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every path to a preset: coll=Allreduce, ppn=2, comm_size=4, comm_id=-1, msg_size=512, ALLREDUCE=1."""
    for key, below in tree.items():
        yield from leaves(below, (*path, key)) if below else [(*path, key)]


def numbered(tree: Tree) -> tuple[Tree, dict[tuple[str, ...], int]]:
    """The same with a number of its own in place of each preset, which no preset has, and which number that is."""
    numbers = {path: _NONE + count for count, path in enumerate(leaves(tree))}

    def copied(node: Tree, path: tuple[str, ...]) -> Tree:
        if not node:
            return {}
        below = {key: copied(inner, (*path, key)) for key, inner in node.items()}
        last: Tree = {
            f"{key.partition('=')[0]}={numbers[(*path, key)]}": {} for key, inner in node.items() if not inner
        }
        return last or below

    return copied(tree, ()), numbers
