"""The rules file of our own library: what it holds, and its text form, written and read.

    unisono-rules 1
    cost node_latency 1.2e-07 node_byte 1.1e-10 fabric_latency 2e-06 fabric_byte 1e-10
    reproducible placement
    alltoall 1 2 0 4095 unisono/pull,mpi

A rule is a collective, nodes and ranks a node (`*`: any; `384@8x8x6` a shape of nodes), message sizes from..to in bytes
as IMB counts them (`max`: no end), and implementations, of which the first that applies serves. `A|B`: they are equally
fast; where groups of nodes are known, the one that puts fewer bytes between them is the first. `reproducible`: what
reductions must not depend on (REPRODUCIBLE). `#` begins a comment.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.core.vocabulary import DISPATCHED, PERSISTENT, REPRODUCIBLE, started
from unisono.parameters.spelling import of_implementation

HEADER = "unisono-rules 1"
COSTS = ("node_latency", "node_byte", "fabric_latency", "fabric_byte")
"""Seconds: what the library's cost model may be told, all or none."""
MEASURED_COSTS = ("fabric_message",)
"""What it may be told besides, where it was measured."""

_NODES = re.compile(r"\*|[1-9][0-9]{0,8}(@[1-9][0-9]{0,8}(x[1-9][0-9]{0,8}){0,8})?")
_PPN = re.compile(r"\*|[1-9][0-9]{0,8}")
_SIZE = re.compile(r"0|[1-9][0-9]{0,18}")
_LARGEST = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class Rule:
    """`nodes` and `ppn` as the file writes them; `last` None: no upper end."""

    collective: str
    nodes: str
    ppn: str
    first: int
    last: int | None
    use: tuple[str, ...]
    """Names; those that are equally fast are one word, "A|B"."""

    def covers(self, size: int) -> bool:
        return self.first <= size and (self.last is None or size <= self.last)


@dataclass(frozen=True, slots=True)
class Rules:
    rules: tuple[Rule, ...]
    costs: Mapping[str, float] = field(default_factory=dict)
    reproducible: str | None = None

    def find(self, collective: str, nodes: int, ppn: int, size: int) -> tuple[str, ...]:
        """What the library uses for a call: rules for just these ranks go before those for any; ("mpi",) without. A
        persistent collective without a rule has that of the nonblocking form."""
        for at in ((str(nodes), str(ppn)), (str(nodes), "*"), ("*", str(ppn)), ("*", "*")):
            for rule in self.rules:
                if (rule.collective, rule.nodes, rule.ppn) == (collective, *at) and rule.covers(size):
                    return rule.use
        return self.find(started(collective), nodes, ppn, size) if collective in PERSISTENT else ("mpi",)


def write(rules: Rules, comments: Sequence[str] = ()) -> str:
    """The file's text."""
    lines = [HEADER, *(f"# {line}".rstrip() for line in comments)]
    if rules.costs:
        lines.append(" ".join(["cost", *(f"{name} {value!r}" for name, value in rules.costs.items())]))
    if rules.reproducible:
        lines.append(f"reproducible {rules.reproducible}")
    for rule in rules.rules:
        last = "max" if rule.last is None else str(rule.last)
        lines.append(f"{rule.collective} {rule.nodes} {rule.ppn} {rule.first} {last} {','.join(rule.use)}")
    return "\n".join(lines) + "\n"


def read(text: str, where: str) -> Rules:
    """The rules in a file's text. Raises UserError with `where`, the line, and what was expected there."""
    rules: list[Rule] = []
    costs: dict[str, float] = {}
    reproducible: str | None = None
    begun = False
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        try:
            if not begun:
                if words != HEADER.split():
                    raise UserError(
                        _("{words!r} is not how our rules begin; the first line is {header!r}").format(
                            words=" ".join(words), header=HEADER
                        )
                    )
                begun = True
            elif words[0] == "cost":
                costs.update(_costs(words[1:]))
            elif words[0] == "reproducible":
                reproducible = _level(words[1:])
            else:
                rules.append(_rule(words, rules))
        except UserError as error:
            raise UserError(
                _("{where}: line {number}: {error}").format(where=where, number=number, error=error)
            ) from None
    if not begun:
        raise UserError(_("{where}: is empty; the first line is {header!r}").format(where=where, header=HEADER))
    return Rules(tuple(rules), costs, reproducible)


def _level(words: Sequence[str]) -> str:
    if len(words) != 1 or words[0] not in REPRODUCIBLE:
        raise UserError(_("reproducible: write one of {levels}").format(levels=", ".join(REPRODUCIBLE)))
    return words[0]


def _costs(words: Sequence[str]) -> dict[str, float]:
    if not words or len(words) % 2 or {*words[::2]} - {*MEASURED_COSTS} != {*COSTS}:
        raise UserError(_("cost: write {costs}, each followed by seconds").format(costs=", ".join(COSTS)))
    found = {}
    for name, value in zip(words[::2], words[1::2], strict=True):
        try:
            found[name] = float(value)
        except ValueError:
            found[name] = math.nan
        if not 0 < found[name] < math.inf:
            raise UserError(
                _("cost {name}: {value!r} is not a number of seconds above 0").format(name=name, value=value)
            )
    return found


def _rule(words: Sequence[str], before: Sequence[Rule]) -> Rule:
    if len(words) != 6:
        raise UserError(
            _("a rule is COLLECTIVE NODES PPN FROM TO IMPLEMENTATION[,...], but this line has {count} words").format(
                count=len(words)
            )
        )
    collective, nodes, ppn, first, last, use = words
    if collective not in DISPATCHED:
        raise UserError(
            _("our library does not serve {collective!r}; it serves {dispatched}").format(
                collective=collective, dispatched=", ".join(DISPATCHED)
            )
        )
    if not _NODES.fullmatch(nodes) or not _PPN.fullmatch(ppn):
        raise UserError(
            _("{nodes} {ppn}: write numbers of nodes and of ranks a node, or *").format(nodes=nodes, ppn=ppn)
        )
    count, _at, shape = nodes.partition("@")
    if shape and math.prod(map(int, shape.split("x"))) != int(count):
        raise UserError(
            _("{nodes}: {shape} is not a shape of {count} nodes").format(nodes=nodes, shape=shape, count=count)
        )
    rule = Rule(collective, nodes, ppn, _size(first), None if last == "max" else _size(last), tuple(use.split(",")))
    if rule.last is not None and rule.last < rule.first:
        raise UserError(_("from {first} is above to {last}").format(first=first, last=last))
    for word in rule.use:
        for one in word.split("|"):
            of_implementation(one)
    for other in before:
        same = (other.collective, other.nodes, other.ppn) == (collective, nodes, ppn)
        if same and other.covers(max(rule.first, other.first)) and rule.covers(max(rule.first, other.first)):
            raise UserError(
                _("{collective} {nodes} {ppn}: {first} bytes have a rule already").format(
                    collective=collective, nodes=nodes, ppn=ppn, first=max(rule.first, other.first)
                )
            )
    return rule


def _size(word: str) -> int:
    if not _SIZE.fullmatch(word) or int(word) > _LARGEST:
        raise UserError(_("{word!r} is not a number of bytes").format(word=word))
    return int(word)
