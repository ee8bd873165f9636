"""Does our library really serve as its exported rules say? Launches with them and reads its own list of who served.

With UNISONO_VERBOSE=1 the library lists at the end, for rank 0:

    unisono:   allreduce   8..4096   unisono/slices   12
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from unisono.cmdline.command import command
from unisono.cmdline.preload import launcher_for, with_variables
from unisono.core.by_size import WITHOUT_SIZE
from unisono.core.errors import LaunchError
from unisono.core.language import _
from unisono.core.reading import read_text
from unisono.core.sizes import format_size
from unisono.core.vocabulary import blocking
from unisono.export import dispatch
from unisono.export.content import Content
from unisono.export.probe import ask, probe_program
from unisono.export.seen import Item
from unisono.library.recorder import recorder
from unisono.mpi.launchers.lines import Line
from unisono.parameters.spelling import require_mpi
from unisono.tuning.plans import Plan

SERVING = "unisono-rules.conf"
RULES_IN = "UNISONO_RULES"
"""The variable that names it to the library."""

Put = Callable[[Sequence[str]], Line]
"""From the command line of a launch to the one that puts our library into its ranks."""

_ROW = re.compile(
    r"^unisono:\s+(?P<collective>[a-z_]+)\s+(?P<first>any|\d+)(\.\.(?P<last>\d+))?\s+(?P<word>\S+)\s+(?P<calls>\d+)\s*$",
    re.MULTILINE,
)
_MOST_BYTES = 64 << 20
"""Of a rank's buffers in one call; larger sizes are not tried."""


@dataclass(frozen=True, slots=True)
class Row:
    """Calls of one collective that one implementation served; `first` and `last` None: of any size."""

    collective: str
    first: int | None
    last: int | None
    word: str
    calls: int

    def covers(self, size: int) -> bool:
        return self.first is None or self.last is None or self.first <= size <= self.last


def rows(text: str) -> list[Row]:
    """What the library listed at the end of a run; empty when it listed nothing."""
    found = []
    for match in _ROW.finditer(text):
        first = None if match["first"] == "any" else int(match["first"])
        last = int(match["last"]) if match["last"] else first
        found.append(Row(match["collective"], first, last, match["word"], int(match["calls"])))
    return found


def check_served(content: Content, deadline: float, put: Put | None = None) -> tuple[list[Item], list[str]]:
    """What was seen of the rules file in the content's directory, as it is now, and the command line that showed it.
    `put` puts the library into the ranks; without it the one kept here is added to the line.

    Raises UserError for a file that is missing or broken (with the line), and as check.check does.
    """
    plan, machine, words = content.plan, content.machine, content.words
    path = content.directory / SERVING
    rules = dispatch.read(read_text(path), str(path))
    wanted = words.serving or dispatch.Rules(())
    calls = _calls(plan, wanted, rules)
    program = [str(probe_program(machine)), *(f"call={collective}:{size}" for collective, size in calls)]
    line = command(
        machine,
        plan.launch,
        plan.nodes,
        plan.ppn,
        program,
        oversubscribe=content.tuning.conditions.oversubscribed,
        extra_mca=words.serving_mca,
    )
    added = (put or adding(content, recorder(require_mpi(machine).mpicc)))(line.argv)
    try:
        listed = rows(ask(added.argv, {**line.env, **added.env}, deadline).output)
    except LaunchError as error:
        return [Item("launch", "runs", error.status, False, error.reason)], [line.shell]
    return items(calls, listed, bool(calls)), [shlex.join(added.argv)]


def adding(content: Content, library: Path) -> Put:
    """The library and its rules in the words of the MPI's own launcher."""

    def put(argv: Sequence[str]) -> Line:
        variables = {RULES_IN: str(content.directory / SERVING), "UNISONO_VERBOSE": "1"}
        return with_variables(argv, launcher_for(content.mpi), library, variables, os.environ)

    return put


def items(calls: Mapping[tuple[str, int], str], listed: Sequence[Row], named: bool) -> list[Item]:
    """For every call, (collective, size) -> the implementation wanted, who served it."""
    if named and not listed:
        reason = _("the library listed nothing: it was not in the ranks, or the file is not the one it read")
        return [Item(_("rules file"), "read", _("not read"), False, reason)]
    out = []
    for (collective, size), word in calls.items():
        here = [row.word for row in listed if row.collective == collective and row.covers(size)]
        wanted = word.split("|")  # any of those that are equally fast
        others = [other for other in here if other not in (*wanted, "mpi")]
        taken = any(one in here for one in wanted) or (word == "mpi" and not others)
        what = (
            collective
            if collective in WITHOUT_SIZE
            else _("{collective} of {size}").format(collective=collective, size=format_size(size))
        )
        found = word if taken else ", ".join(others or here) or _("not served by the library")
        out.append(Item(what, word, found, taken, "" if taken else _("another rule comes first, or it does not apply")))
    return out


def _calls(plan: Plan, wanted: dispatch.Rules, found: dispatch.Rules) -> dict[tuple[str, int], str]:
    """The ends of every range of the plan's rules, and of those in the file, with what the plan wants there."""
    calls: dict[tuple[str, int], str] = {}
    here = (str(plan.nodes), str(plan.ppn))
    for rule in [*wanted.rules, *found.rules]:
        if rule.nodes not in (here[0], "*") or rule.ppn not in (here[1], "*"):
            continue
        for size in sorted(_sizes(rule, plan)):
            calls[rule.collective, size] = wanted.find(rule.collective, plan.nodes, plan.ppn, size)[0]
    return calls


def _sizes(rule: dispatch.Rule, plan: Plan) -> set[int]:
    """To try: both ends of a rule, and the smallest and largest size that was measured of it. Calls without data need
    not be served by anybody."""
    if rule.collective in WITHOUT_SIZE:
        return {0} if blocking(rule.collective) == "barrier" else {1}
    measured = [size for each in plan.rules_for(rule.collective) for size in each.sizes if rule.covers(size)]
    ends = [rule.first, *measured[:1], *measured[-1:], *([] if rule.last is None else [rule.last])]
    return {max(size, 1) for size in ends if size * plan.ranks <= _MOST_BYTES}
