"""At which calls a check tries the rules: the ends of every range, on the plan's ranks and on one rank fewer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from unisono.core.language import _
from unisono.core.sizes import format_size
from unisono.export.message_bytes import message_bytes
from unisono.export.tuned_rules import Entry, MessageRule, RulesFile
from unisono.tuning import words
from unisono.tuning.plans import Plan, Rule

_OWN_CHOICE = MessageRule(0, 0)

_MOST_BYTES = 64 << 20
"""Of a rank's buffers in one call; larger sizes are not tried."""


@dataclass(frozen=True, slots=True)
class Point:
    """One call, and the rule it ought to get."""

    collective: str
    size: int
    """As IMB counts it, at least 1: calls without data never come to the rules."""
    ranks: int
    what: str
    """What it stands for: the range of a rule, or other numbers of ranks."""
    wanted: MessageRule
    """Of the compiled plan."""
    guarded: bool = False
    """On other ranks than the plan's: none of its rules may apply."""

    @property
    def call(self) -> tuple[str, int]:
        return self.collective, self.size


def rule_points(plan: Plan, wanted: RulesFile | None, found: Sequence[Entry]) -> list[Point]:
    """The calls to try for what the plan wants (its compiled rules) and for what else a file holds."""
    rules = wanted or RulesFile(())
    named = [c.collective for c in rules.collectives]
    named += [entry.collective for entry in found if entry.collective in plan.gain]
    out: list[Point] = []
    for collective in dict.fromkeys(named):
        for what, sizes in sizes_of(plan, collective):
            out += [_point(collective, size, plan.ranks, what, rules) for size in sizes]
        fewer = _point(collective, out[-1].size, plan.ranks - 1, f"{plan.ranks - 1} ranks", rules)
        if plan.ranks > 2 and fewer.wanted == _OWN_CHOICE:
            out.append(replace(fewer, guarded=True))
    return out


def watched(found: Sequence[Entry], ranks: int) -> list[Entry]:
    """The rules of a file that its text has for so many ranks, by Open MPI's lookup.

    The others are left alone: coll/han calls coll/tuned on parts of a communicator, and crashes when that fails.
    """
    sizes: dict[str, int] = {}
    for entry in found:
        if 0 < entry.comm_size <= ranks:
            sizes[entry.collective] = max(entry.comm_size, sizes.get(entry.collective, 0))
    return [entry for entry in found if sizes.get(entry.collective) == entry.comm_size]


def _point(collective: str, size: int, ranks: int, what: str, rules: RulesFile) -> Point:
    selected = rules.select(collective, ranks, message_bytes(collective, size, ranks))
    return Point(collective, size, ranks, what, selected or _OWN_CHOICE)


def sizes_of(plan: Plan, collective: str) -> list[tuple[str, list[int]]]:
    """What every range of sizes is called, with the sizes to try in it, ascending; at least one range and size."""
    if collective in ("barrier",):
        return [("all", [0])]
    rules = sorted(plan.rules_for(collective), key=lambda rule: rule.first)
    out = [(words.sizes(rule.first, rule.last), _sizes(rule, plan.ranks)) for rule in rules]
    last = rules[-1].last if rules else 0
    if last is not None and _fits(last + 1, plan.ranks):
        rest = words.sizes(last + 1, None) if last % 2 == 1 else _("above {last}").format(last=format_size(last))
        out.append((rest if rules else _("all sizes"), [max(1, last + 1)]))
    return [(what, sizes) for what, sizes in out if sizes] or [(_("all sizes"), [1])]


def _sizes(rule: Rule, ranks: int) -> list[int]:
    ends = [rule.first, *rule.sizes[:1], *rule.sizes[-1:], *([] if rule.last is None else [rule.last])]
    return sorted({max(1, size) for size in ends if rule.covers(max(1, size)) and _fits(size, ranks)})


def _fits(size: int, ranks: int) -> bool:
    return size * ranks <= _MOST_BYTES
